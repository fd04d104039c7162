// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A proxy whose admin can exchange the code, as USDC's: the admin's own calls are not passed on. For tests alone.
contract TestProxy {
    /// Far from the storage of the code behind it (ERC-1967).
    bytes32 private constant IMPLEMENTATION = bytes32(uint256(keccak256("eip1967.proxy.implementation")) - 1);
    bytes32 private constant ADMIN = bytes32(uint256(keccak256("eip1967.proxy.admin")) - 1);

    constructor(address implementation_, address admin_) {
        _write(IMPLEMENTATION, implementation_);
        _write(ADMIN, admin_);
    }

    function upgradeTo(address implementation_) external {
        require(msg.sender == _read(ADMIN));
        _write(IMPLEMENTATION, implementation_);
    }

    fallback() external {
        require(msg.sender != _read(ADMIN), "Cannot call fallback function from the proxy admin");
        address implementation_ = _read(IMPLEMENTATION);
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), implementation_, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }

    function _read(bytes32 slot) private view returns (address value) {
        assembly {
            value := sload(slot)
        }
    }

    function _write(bytes32 slot, address value) private {
        assembly {
            sstore(slot, value)
        }
    }
}
