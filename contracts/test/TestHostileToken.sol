// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A token that misbehaves on command, for tests alone. Everybody holds and allows everything.
contract TestHostileToken {
    enum Manner {
        ReturnsTrue,
        ReturnsFalse,
        ReturnsTwo,
        ReturnsShort,
        ReturnsMuch,
        BurnsGas,
        CallsBack
    }

    Manner public manner;
    address public target;
    bytes public callback;
    bool public calledBack;
    mapping(address account => uint256) public received;

    function behave(Manner manner_) external {
        manner = manner_;
    }

    /// What the token does inside a transfer under `CallsBack`.
    function plan(address target_, bytes calldata callback_) external {
        target = target_;
        callback = callback_;
    }

    function balanceOf(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function allowance(address, address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function transfer(address to, uint256 amount) external {
        _answer(to, amount);
    }

    function transferFrom(address, address to, uint256 amount) external {
        _answer(to, amount);
    }

    function _answer(address to, uint256 amount) private {
        if (manner == Manner.ReturnsFalse) _return(0, 32);
        if (manner == Manner.BurnsGas) {
            while (true) {}
        }
        if (manner == Manner.CallsBack) (calledBack,) = target.call(callback);
        received[to] += amount;
        if (manner == Manner.ReturnsTwo) _return(2, 32);
        if (manner == Manner.ReturnsShort) _return(1, 31);
        if (manner == Manner.ReturnsMuch) _return(1, 20_000);
        _return(1, 32);
    }

    function _return(uint256 word, uint256 size) private pure {
        assembly {
            mstore(0, word)
            return(0, size)
        }
    }
}
