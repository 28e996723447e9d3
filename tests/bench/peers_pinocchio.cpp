// Pinocchio's algorithms in a loop of C++ over the rows of a batch: what its C++ costs
// without any binding.  peers_native.py compiles this where it finds Eigen's headers.
// The types of the arguments are those for which the library holds compiled code: this
// times the package as it is installed.

#include <pinocchio/multibody.hpp>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace
{

using Map = Eigen::Map<const Eigen::VectorXd>;
using Row = Eigen::Ref<const Eigen::VectorXd>;
using Jacobian = Eigen::Ref<pinocchio::Data::Matrix6x>;
using Square = Eigen::Ref<Eigen::MatrixXd>;
using RowSquare = Eigen::Ref<pinocchio::Data::RowMatrixXs>;

struct Peer {
    pinocchio::Model model;
    pinocchio::Data data;
    pinocchio::Data::Matrix6x jacobian;
    Eigen::MatrixXd by_q, by_v;
    std::vector<pinocchio::RigidConstraintModel> held;
    std::vector<pinocchio::RigidConstraintData> rooms;
};

enum { KIND_X, KIND_Y, KIND_Z, KIND_FREE };
enum {
    JOB_FORWARD,
    JOB_INVERSE,
    JOB_MASS,
    JOB_JACOBIAN,
    JOB_DERIVATIVES,
    JOB_FORWARD_DERIVATIVES
};

pinocchio::JointModel joint_of(int kind)
{
    switch (kind) {
    case KIND_X:
        return pinocchio::JointModelRX();
    case KIND_Y:
        return pinocchio::JointModelRY();
    case KIND_Z:
        return pinocchio::JointModelRZ();
    default:
        return pinocchio::JointModelFreeFlyer();
    }
}

template <class Matrix> void store(double *out, const Matrix &from)
{
    std::memcpy(out, from.data(), sizeof(double) * static_cast<size_t>(from.size()));
}

} // namespace

// Returns an empty model.
extern "C" void *peer_open()
{
    return new Peer;
}

// Adds a joint behind joint `parent`.  placement: 4 x 4 by columns; inertia: mass,
// centre of mass, 3 x 3 about it.
extern "C" void peer_add(void *handle, int parent, int kind, const double *placement,
                         const double *inertia)
{
    Peer &peer = *static_cast<Peer *>(handle);
    const Eigen::Map<const Eigen::Matrix4d> pose(placement);
    const Eigen::Map<const Eigen::Vector3d> com(inertia + 1);
    const Eigen::Map<const Eigen::Matrix3d> moments(inertia + 4);
    const pinocchio::SE3 where(pose.topLeftCorner<3, 3>(), pose.topRightCorner<3, 1>());
    const pinocchio::JointIndex joint =
        peer.model.addJoint(static_cast<pinocchio::JointIndex>(parent), joint_of(kind),
                            where, "joint" + std::to_string(peer.model.njoints));

    peer.model.appendBodyToJoint(joint, pinocchio::Inertia(inertia[0], com, moments));
}

// Makes room for results, once all joints are there.
extern "C" void peer_ready(void *handle)
{
    Peer &peer = *static_cast<Peer *>(handle);
    peer.data = pinocchio::Data(peer.model);
    peer.jacobian.setZero(6, peer.model.nv);
    peer.by_q.setZero(peer.model.nv, peer.model.nv);
    peer.by_v = peer.by_q;
}

// Holds the frame of the last joint at a place of the base.
extern "C" void peer_hold(void *handle, const double *place)
{
    Peer &peer = *static_cast<Peer *>(handle);
    const pinocchio::SE3 where(Eigen::Matrix3d::Identity(),
                               Eigen::Map<const Eigen::Vector3d>(place));
    const pinocchio::JointIndex last =
        static_cast<pinocchio::JointIndex>(peer.model.njoints - 1);

    peer.held.emplace_back(pinocchio::CONTACT_3D, peer.model, last,
                           pinocchio::SE3::Identity(), 0, where, pinocchio::LOCAL);
    peer.rooms.emplace_back(peer.held[0]);
    pinocchio::initConstraintDynamics(peer.model, peer.data, peer.held, peer.rooms);
}

extern "C" void peer_close(void *handle)
{
    delete static_cast<Peer *>(handle);
}

// Does a job for `count` states, rows of q, v and a, and stores the results.  Mass
// matrices, their upper half only, Jacobians and the first two of three derivatives come by
// columns, the third one by rows, its upper half only.
extern "C" void peer_run(void *handle, int job, long count, const double *q,
                         const double *v, const double *a, double *out)
{
    Peer &peer = *static_cast<Peer *>(handle);
    const pinocchio::Model &model = peer.model;
    pinocchio::Data &data = peer.data;
    const int nq = model.nq, nv = model.nv;
    const pinocchio::JointIndex last =
        static_cast<pinocchio::JointIndex>(model.njoints - 1);
    Jacobian jacobian = peer.jacobian;
    RowSquare dq = data.dtau_dq, dv = data.dtau_dv;
    Square da = data.M;
    Square fq = peer.by_q, fv = peer.by_v;
    RowSquare ft = data.Minv;

    for (long i = 0; i < count; i++) {
        const Row qi = Map(q + i * nq, nq), vi = Map(v + i * nv, nv);
        const Row ai = Map(a + i * nv, nv);
        switch (job) {
        case JOB_FORWARD:
            if (!peer.held.empty()) {
                store(out + i * nv,
                      pinocchio::constraintDynamics(model, data, qi, vi, ai, peer.held,
                                                    peer.rooms));
                break;
            }
            store(out + i * nv, pinocchio::aba(model, data, qi, vi, ai));
            break;
        case JOB_INVERSE:
            store(out + i * nv, pinocchio::rnea(model, data, qi, vi, ai));
            break;
        case JOB_MASS:
            store(out + i * nv * nv, pinocchio::crba(model, data, qi));
            break;
        case JOB_JACOBIAN:
            pinocchio::computeJointJacobian(model, data, qi, last, jacobian);
            store(out + i * 6 * nv, peer.jacobian);
            break;
        case JOB_FORWARD_DERIVATIVES:
            pinocchio::computeABADerivatives(model, data, qi, vi, ai, fq, fv, ft);
            store(out + i * 3 * nv * nv, peer.by_q);
            store(out + (i * 3 + 1) * nv * nv, peer.by_v);
            store(out + (i * 3 + 2) * nv * nv, data.Minv);
            break;
        default:
            pinocchio::computeRNEADerivatives(model, data, qi, vi, ai, dq, dv, da);
            store(out + i * 2 * nv * nv, data.dtau_dq);
            store(out + (i * 2 + 1) * nv * nv, data.dtau_dv);
        }
    }
}
