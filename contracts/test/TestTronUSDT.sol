// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Behaves as USDT on Tron, for tests alone. It differs from TestUSDT in what it returns:
/// - `transfer` returns false although it succeeds;
/// - `transferFrom` and `approve` return true, until its owner has `transferFrom` return false too, although it succeeds.
contract TestTronUSDT {
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint256 public constant decimals = 6;

    address public owner = msg.sender;
    bool public paused;
    bool public denies;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlackListed;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AddedBlackList(address user);
    event RemovedBlackList(address user);

    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }

    /// The real one forgets to return.
    function transfer(address to, uint256 value) external returns (bool) {
        _transfer(msg.sender, to, value);
        return false;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed);
        _transfer(from, to, value);
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        return !denies;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        require(value == 0 || allowance[msg.sender][spender] == 0);
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function _transfer(address from, address to, uint256 value) private {
        require(!paused);
        require(!isBlackListed[from]);
        require(value <= balanceOf[from]);
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    /// The real one issues to its owner alone.
    function mint(address to, uint256 value) external onlyOwner {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function setPaused(bool value) external onlyOwner {
        paused = value;
    }

    function setDenies(bool value) external onlyOwner {
        denies = value;
    }

    function addBlackList(address user) external onlyOwner {
        isBlackListed[user] = true;
        emit AddedBlackList(user);
    }

    function removeBlackList(address user) external onlyOwner {
        isBlackListed[user] = false;
        emit RemovedBlackList(user);
    }
}
