// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20, Tokens} from "./Tokens.sol";

/// Pays many recipients in one transaction, each item at most once.
///
/// It has no owner and no settings, and holds no coins: it moves the caller's tokens alone, by the caller's allowance.
/// An item is named by (caller, group, index). Its bit is set when its transfer succeeded and is never cleared, so a
/// second call for the same item reports `PaidBefore` and moves nothing, whatever recipient or amount it names.
contract BatchPayout {
    struct Payment {
        uint256 index;
        address to;
        uint256 amount;
    }

    /// An item was tried by this call. `ok` false: nothing moved, and the item may be tried again.
    event Item(address indexed from, bytes32 indexed group, uint256 index, bool ok);

    /// An earlier call, or an earlier place of this one, has paid the item.
    event PaidBefore(address indexed from, bytes32 indexed group, uint256 index);

    error NoToken();
    error Reentered();
    error TooLittleGas();

    /// A transfer of USDC to a new holder takes 55,000 at most.
    uint256 private constant TRANSFER_GAS = 150_000;

    /// To give a transfer all of `TRANSFER_GAS` (a call gets at most 63/64 of what is left), then to finish.
    uint256 private constant GAS_BEFORE_TRANSFER = TRANSFER_GAS * 64 / 63 + 50_000;

    mapping(address from => mapping(bytes32 group => mapping(uint256 word => uint256 bits))) private _paid;

    /// `pay` keeps a word of bits in memory while tokens run, so no second `pay` may run inside the first.
    bool private transient _running;

    /// Whether that item was paid through this contract.
    function isPaid(address from, bytes32 group, uint256 index) external view returns (bool) {
        return _paid[from][group][index >> 8] & (1 << (index & 255)) != 0;
    }

    /// Pays from the caller's tokens. A payment that fails leaves the others alone.
    ///
    /// Reverts with `TooLittleGas` rather than let an item fail for want of gas: each gets the same gas, and its
    /// result does not depend on the transaction's limit. That limit must be 203,000 above what is used.
    function pay(address token, bytes32 group, Payment[] calldata payments) external {
        if (token.code.length == 0) revert NoToken();
        if (_running) revert Reentered();
        _running = true;

        mapping(uint256 word => uint256 bits) storage paid = _paid[msg.sender][group];
        uint256 word;
        uint256 bits = paid[0];
        uint256 spendable;
        for (uint256 i; i < payments.length; ++i) {
            Payment calldata payment = payments[i];
            if (payment.index >> 8 != word) {
                paid[word] = bits;
                word = payment.index >> 8;
                bits = paid[word];
            }
            uint256 bit = 1 << (payment.index & 255);
            if (bits & bit != 0) {
                emit PaidBefore(msg.sender, group, payment.index);
                continue;
            }
            // USDT burns all the gas that it was given when the balance or the allowance is too small.
            if (payment.amount > spendable) spendable = _spendable(token);
            bool ok = payment.amount <= spendable && _transfer(token, payment.to, payment.amount);
            if (ok) {
                bits |= bit;
                spendable -= payment.amount;
            }
            emit Item(msg.sender, group, payment.index, ok);
        }
        paid[word] = bits;

        _running = false;
    }

    function _spendable(address token) private view returns (uint256) {
        uint256 balance = IERC20(token).balanceOf(msg.sender);
        uint256 allowance = IERC20(token).allowance(msg.sender, address(this));
        return balance < allowance ? balance : allowance;
    }

    function _transfer(address token, address to, uint256 amount) private returns (bool) {
        if (gasleft() < GAS_BEFORE_TRANSFER) revert TooLittleGas();
        return Tokens.tryCall(token, TRANSFER_GAS, abi.encodeCall(IERC20.transferFrom, (msg.sender, to, amount)));
    }
}
