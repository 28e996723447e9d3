"""Numbers of the search between two postures, and why they are as large as they are."""

# starts, races and refinements: between_postures.py

# Duration of the first motion over that of the rigid optimum, which an arm that bends
# does not reach.
FIRST_RATIO = 1.2
# Changes of a joint in rad or m, and of the duration as its part, in the first round at
# most.
FIRST_STEPS = 0.5, 0.3
# The same in rounds that go on from an answer.
NEAR_STEPS = 0.05, 0.02
# Steps of Newton's method to the goal at most.
MAX_GOAL_CORRECTIONS = 8
# Part of the forces of the rigid motion that a calmer first motion has, which bends
# half as far.
CALM_SHARE = 0.5
# Rounds from each start, before the best goes on: with fewer, starts that begin slowly
# lose; each costs a program.
RACE_ROUNDS = 6
# Price of changes of forces in the rounds of the race at most, as part of the duration:
# forces become calm only after it.
RACE_PRICE = 1e-3
# Rounds with longer steps where modes are fast, before the rounds that count.
ROUGH_ROUNDS = 9
# Rounds after which a start that lags stops.
EARLY_ROUNDS = 3
# Duration over that of the best start, above which one lags.
MAX_LAG = 1.05
# Times that intervals of changing forces are halved, to an eighth.
REFINEMENTS = 3
# Rounds of each refinement.
REFINED_ROUNDS = 6
# Part of its range by which a force changes in an interval that is halved.
MIN_CHANGE = 0.05
# Part of the duration that the last refinement has to gain for a further one.
MIN_GAIN = 1e-3
# Part of the limits of torque in motions that turn aside.
ASIDE_SHARE = 0.5
# Part of the duration: gains in the rounds from a start that are not worth while.
COARSE_GAIN = 3e-4
# The same in rounds of refinement.
FINE_GAIN = 2e-4
# Forces at new knots at most: with more, linear programs take long.
MAX_KNOTS = 60
# Forces at all knots at most within further limits: without it, two links took five
# times as long for 0.25 % of the duration; with 200 others lost 1.5 % of it.
MAX_FORCES = 300
# Times that limits are narrowed by what the simulation exceeds them.
MAX_NARROWINGS = 3

# rounds of linear programs: descent.py

# Price of what the goal is missed by in its sizes, as part of the duration; it is
# raised where the goal is missed all the same.
GOAL_PRICE = 10.0
# Price of what is beyond limits, as part of the duration.
LIMIT_PRICE = 10.0
# Linear programs for durations of one linearized arm at most.
MAX_PROGRAMS = 4
# Part of the gain, or of the next number if that is less, below which what more
# programs can add is not worth one.
MIN_PART = 0.03
# Gain in this bound at most, as part of the first duration.
MAX_PART = 0.1
# Part of their range by which new durations keep away from known ones.
END_DISTANCE = 0.05
# Places at which changes of joints are fenced, each a row for every joint.
FENCES = 10
# Linear programs at most until limits hold everywhere.
MAX_CUTS = 4
# Factor of what joints and the duration changed, to which their next fences are set.
FENCE_RATIO = 3.0
# The same of durations within further limits.
SHARE_RATIO = 5.0
# Part of the duration by which it changes in a round at most.
MAX_SHARE = 0.3
# Part of the duration, below which a change of it needs no further program.
MIN_SHARE = 3e-3
# Corrections of a step at most.
MAX_STEP_CORRECTIONS = 4
# Times at most that changes are fitted while more forces come to their limits.
MAX_FITS = 8
# Parts of the largest change, from calm to exact: directions that need more are left.
CALM_LEVELS = (1e-1, 1e-2, 1e-3, 1e-4)
# Distance from the goal, the sum of its parts in their sizes, that Newton's method
# mends at the end.
NEAR_DISTANCE = 2e-3
# Part of the cost that a round promises, for which a smaller step is tried.
PROMISING_GAIN = 0.002
# Rounds of little gain, one after the other, that end the search.
MAX_STALLS = 2
# Factor of the least gain that is worth while, below which a gain is little.
LITTLE_RATIO = 2.0
# Rounds, and the part of the cost that they gain together at least; with less the
# search ends.
SLOW_ROUNDS = 3, 0.01
# Part of the duration by which a step to the goal changes it at most.
MAX_LENGTHENING = 0.1
# Part of the gain that corrections leave to the next round.
LEFT_SHARE = 0.1
# Factor of what is missed: corrections that leave more are the last ones.
MAX_RATE = 0.7
# Factor of the distance from the goal: steps that leave more are stalled.
MAX_STALL_RATE = 0.95
# Factor by which the price of the goal is raised where it is missed.
PRICE_RATIO = 5.0
# Times at most that it is raised.
MAX_RAISES = 3
# Parts of the way to other forces, simulated in lanes.
WAY_SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)
# The same where limits are compared at many places.
FEWER_SHARES = (1.0, 0.35, 0.1)
# Parts of the way at most that are corrected.
MAX_ATTEMPTS = 2
# Factor of the part before, which the next one is at most.
SHORTER_RATIO = 0.4
# Distance from the goal in its sizes: Newton's method seldom leads back from farther
# away.
MAX_MISS = 0.5
