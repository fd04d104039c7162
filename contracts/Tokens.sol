// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IERC20 {
    function balanceOf(address account) external view returns (uint256);
    function allowance(address owner, address spender) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// Calls that report failure instead of reverting.
library Tokens {
    /// Calls a token. It succeeded when it did not revert and returned nothing (USDT) or `true`.
    /// The caller has checked that `token` has code: a call to an address without code succeeds and returns nothing.
    function tryCall(address token, uint256 gasLimit, bytes memory data) internal returns (bool ok) {
        (bool called, uint256 size, uint256 word) = callForWord(token, gasLimit, data);
        return called && (size == 0 || (size >= 32 && word == 1));
    }

    /// Copies at most 32 bytes of the answer, so that a long one costs the caller nothing.
    function callForWord(address target, uint256 gasLimit, bytes memory data)
        internal
        returns (bool called, uint256 size, uint256 word)
    {
        assembly ("memory-safe") {
            mstore(0, 0)
            called := call(gasLimit, target, 0, add(data, 32), mload(data), 0, 32)
            size := returndatasize()
            word := mload(0)
        }
    }
}
