// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Tokens} from "./Tokens.sol";
import {SweepDelegate} from "./SweepDelegate.sol";

/// Sweeps many deposit addresses in one transaction, which its operator pays for. It holds no coins and chooses no
/// destination: each address's `SweepDelegate` knows its own. One serves all merchants of an installation.
contract Sweeper {
    struct Sweep {
        address from;
        address token;
        uint256 amount;
    }

    /// `ok` false: nothing moved. An address that has not delegated, or not to us, is such a one.
    event Swept(address indexed from, address indexed token, uint256 amount, bool ok);

    error NoAddress();
    error NotOperator();
    error TooLittleGas();

    /// USDT burns all the gas that it was given when the balance is too small; the others need theirs.
    uint256 private constant SWEEP_GAS = 150_000;
    uint256 private constant GAS_BEFORE_SWEEP = SWEEP_GAS * 64 / 63 + 10_000;

    address public immutable operator;

    constructor(address operator_) {
        if (operator_ == address(0)) revert NoAddress();
        operator = operator_;
    }

    /// A sweep that fails leaves the others alone. Reverts rather than let one fail for want of gas.
    function sweep(Sweep[] calldata sweeps) external {
        if (msg.sender != operator) revert NotOperator();
        for (uint256 i; i < sweeps.length; ++i) {
            Sweep calldata one = sweeps[i];
            if (gasleft() < GAS_BEFORE_SWEEP) revert TooLittleGas();
            (bool called, uint256 size, uint256 word) = Tokens.callForWord(
                one.from, SWEEP_GAS, abi.encodeCall(SweepDelegate.sweep, (one.token, one.amount))
            );
            // An address without code answers with nothing, which is no success here.
            emit Swept(one.from, one.token, one.amount, called && size == 32 && word == 1);
        }
    }
}
