"""Numbers of the searches of `trajectory`, and why they are as large as they are."""

# Intervals by default, of which a linear model chooses the kind.
INTERVALS = 40
# Steps of the solver on half of the intervals, at most.
MAX_COARSE_STEPS = 60
# Intervals of which half tell what finer ones would save.
MIN_INTERVALS = 8
# Intervals of grids that are refined, at most.
MAX_INTERVALS = 160
# Times that limits are narrowed on a grid.
MAX_NARROWINGS = 5
# Parts of the cost that rates of a smooth motion's forces take.
RATE_SHARES = (0.03, 0.2)
# Gap of an answer above which other searches may find a cheaper one.
MAX_GAP = 0.1
# Times that limits of exact steps are narrowed.
MAX_EXACT_NARROWINGS = 3
