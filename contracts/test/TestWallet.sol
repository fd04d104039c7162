// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A contract that is a wallet (ERC-1271): what its key has signed counts, in the manner that it is told. For tests
/// alone.
contract TestWallet {
    enum Manner {
        Answers,
        AnswersAnother,
        AnswersShort,
        AnswersAlways,
        Reverts
    }

    address public immutable key;
    Manner public manner;

    constructor(address key_) {
        key = key_;
    }

    function behave(Manner manner_) external {
        manner = manner_;
    }

    /// Whatever its key wants.
    function run(address target, bytes calldata data) external {
        require(msg.sender == key);
        (bool ok,) = target.call(data);
        require(ok);
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (manner == Manner.Reverts) revert();
        if (manner == Manner.AnswersAnother) return 0xffffffff;
        if (manner == Manner.AnswersShort) {
            assembly {
                mstore(0, shl(224, 0x1626ba7e))
                return(0, 4)
            }
        }
        if (manner == Manner.AnswersAlways) return this.isValidSignature.selector;
        address recovered =
            ecrecover(hash, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return recovered == key ? this.isValidSignature.selector : bytes4(0);
    }
}
