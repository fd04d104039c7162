// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Behaves as mainnet's USDT (TetherToken, solc 0.4.18), for tests alone:
/// - `transfer`, `transferFrom` and `approve` return nothing;
/// - `approve` from one amount to another reverts, it has to pass through 0;
/// - too small a balance or allowance hits `assert`, which burns all gas of the call;
/// - an allowance of 2^256 - 1 never shrinks;
/// - senders can be blacklisted, recipients cannot; what a listed address holds may be destroyed;
/// - a fee can be switched on, which the recipient bears; pause stops transfers, not approvals;
/// - a transfer to the zero address succeeds.
contract TestUSDT {
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint256 public constant decimals = 6;

    address public owner = msg.sender;
    bool public paused;
    uint256 public totalSupply;
    uint256 public basisPointsRate;
    uint256 public maximumFee;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlackListed;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AddedBlackList(address user);
    event RemovedBlackList(address user);
    event DestroyedBlackFunds(address blackListedUser, uint256 balance);
    event Params(uint256 feeBasisPoints, uint256 maxFee);
    event Pause();
    event Unpause();

    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }

    function transfer(address to, uint256 value) external {
        _transfer(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        _transfer(from, to, value);
        uint256 allowed = allowance[from][msg.sender];
        _assert(value <= allowed);
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
    }

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0);
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    function _transfer(address from, address to, uint256 value) private {
        require(!paused);
        require(!isBlackListed[from]);
        uint256 fee = value * basisPointsRate / 10_000;
        if (fee > maximumFee) fee = maximumFee;
        _assert(value <= balanceOf[from]);
        balanceOf[from] -= value;
        balanceOf[to] += value - fee;
        if (fee > 0) {
            balanceOf[owner] += fee;
            emit Transfer(from, owner, fee);
        }
        emit Transfer(from, to, value - fee);
    }

    function _assert(bool holds) private pure {
        if (!holds) {
            assembly {
                invalid()
            }
        }
    }

    /// The real one issues to its owner alone.
    function mint(address to, uint256 value) external onlyOwner {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function pause() external onlyOwner {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyOwner {
        paused = false;
        emit Unpause();
    }

    function addBlackList(address user) external onlyOwner {
        isBlackListed[user] = true;
        emit AddedBlackList(user);
    }

    function removeBlackList(address user) external onlyOwner {
        isBlackListed[user] = false;
        emit RemovedBlackList(user);
    }

    function destroyBlackFunds(address user) external onlyOwner {
        require(isBlackListed[user]);
        uint256 balance = balanceOf[user];
        balanceOf[user] = 0;
        totalSupply -= balance;
        emit DestroyedBlackFunds(user, balance);
    }

    /// In hundredths of a percent, below 20; the most in whole tokens, below 50.
    function setParams(uint256 newBasisPoints, uint256 newMaxFee) external onlyOwner {
        require(newBasisPoints < 20 && newMaxFee < 50);
        basisPointsRate = newBasisPoints;
        maximumFee = newMaxFee * 10 ** decimals;
        emit Params(basisPointsRate, maximumFee);
    }
}
