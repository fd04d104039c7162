// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20, Tokens} from "./Tokens.sol";

/// The code of one merchant's deposit addresses (EIP-7702). A deposit address delegates to it once; from then on its
/// tokens can move to `home` without ether at the deposit address.
///
/// Both addresses are part of the code: no storage, no owner, no call changes them. The key of the deposit address
/// keeps its power: it can still sign transactions of its own and delegate elsewhere.
contract SweepDelegate {
    address public immutable home;
    address public immutable sweeper;

    error NoAddress();
    error NotSweeper();

    constructor(address home_, address sweeper_) {
        if (home_ == address(0) || sweeper_ == address(0)) revert NoAddress();
        home = home_;
        sweeper = sweeper_;
    }

    /// Moves exactly `amount` to `home`; what else lies here stays. Returns whether the token moved it.
    function sweep(address token, uint256 amount) external returns (bool) {
        if (msg.sender != sweeper) revert NotSweeper();
        if (token.code.length == 0) return false;
        return Tokens.tryCall(token, gasleft(), abi.encodeCall(IERC20.transfer, (home, amount)));
    }

    /// Without it a delegated address would refuse ether.
    receive() external payable {}
}
