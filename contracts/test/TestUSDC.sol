// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IERC1271 {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

/// Behaves as mainnet's USDC (FiatTokenV2_2), for tests alone, to be used behind `TestProxy`:
/// - caller, sender and recipient can be blacklisted, which also stops approvals and permits;
/// - pause stops transfers, approvals and authorizations;
/// - permit (EIP-2612) and transfers by signature (EIP-3009) under the domain version "2"; an account with code,
///   also by EIP-7702, signs by ERC-1271;
/// - every allowance shrinks, one of 2^256 - 1 too; errors carry the real texts.
contract TestUSDC {
    string public constant name = "USD Coin";
    string public constant symbol = "USDC";
    string public constant version = "2";
    uint8 public constant decimals = 6;

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    address public owner;
    bool public paused;
    uint256 public totalSupply;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => uint256) public nonces;
    mapping(address account => mapping(bytes32 nonce => bool)) public authorizationState;

    /// The highest bit says whether the account is blacklisted, as in the real one: both are read at once.
    mapping(address account => uint256) private _balanceAndBlacklist;
    uint256 private constant LISTED = 1 << 255;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
    event Pause();
    event Unpause();

    struct Authorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier notBlacklisted(address account) {
        require(!isBlacklisted(account), "Blacklistable: account is blacklisted");
        _;
    }

    function initialize(address owner_) external {
        require(owner == address(0), "FiatToken: contract is already initialized");
        owner = owner_;
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(DOMAIN_TYPEHASH, keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this))
        );
    }

    function balanceOf(address account) public view returns (uint256) {
        return _balanceAndBlacklist[account] & ~LISTED;
    }

    function isBlacklisted(address account) public view returns (bool) {
        return _balanceAndBlacklist[account] & LISTED != 0;
    }

    function transfer(address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(from)
        notBlacklisted(to)
        returns (bool)
    {
        require(value <= allowance[from][msg.sender], "ERC20: transfer amount exceeds allowance");
        _transfer(from, to, value);
        allowance[from][msg.sender] -= value;
        return true;
    }

    function approve(address spender, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(spender)
        returns (bool)
    {
        _approve(msg.sender, spender, value);
        return true;
    }

    function permit(address holder, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        permit(holder, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    function permit(address holder, address spender, uint256 value, uint256 deadline, bytes memory signature)
        public
        whenNotPaused
        notBlacklisted(holder)
        notBlacklisted(spender)
    {
        require(deadline >= block.timestamp, "FiatTokenV2: permit is expired");
        bytes32 data = keccak256(abi.encode(PERMIT_TYPEHASH, holder, spender, value, nonces[holder]++, deadline));
        require(_isSignedBy(holder, data, signature), "EIP2612: invalid signature");
        _approve(holder, spender, value);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        Authorization memory it = Authorization(from, to, value, validAfter, validBefore, nonce);
        _transferAuthorized(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, it, signature);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        Authorization memory it = Authorization(from, to, value, validAfter, validBefore, nonce);
        _transferAuthorized(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, it, abi.encodePacked(r, s, v));
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        Authorization memory it = Authorization(from, to, value, validAfter, validBefore, nonce);
        _transferAuthorized(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, it, signature);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external whenNotPaused {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
        bytes32 data = keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce));
        require(_isSignedBy(authorizer, data, signature), "FiatTokenV2: invalid signature");
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    /// The real one mints by minters with allowances of their own.
    function mint(address to, uint256 value) external onlyOwner whenNotPaused {
        totalSupply += value;
        _balanceAndBlacklist[to] += value;
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

    function blacklist(address account) external onlyOwner {
        _balanceAndBlacklist[account] |= LISTED;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external onlyOwner {
        _balanceAndBlacklist[account] &= ~LISTED;
        emit UnBlacklisted(account);
    }

    function _transferAuthorized(bytes32 typeHash, Authorization memory it, bytes memory signature)
        private
        whenNotPaused
        notBlacklisted(it.from)
        notBlacklisted(it.to)
    {
        require(block.timestamp > it.validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < it.validBefore, "FiatTokenV2: authorization is expired");
        require(!authorizationState[it.from][it.nonce], "FiatTokenV2: authorization is used or canceled");
        bytes32 data = keccak256(
            abi.encode(typeHash, it.from, it.to, it.value, it.validAfter, it.validBefore, it.nonce)
        );
        require(_isSignedBy(it.from, data, signature), "FiatTokenV2: invalid signature");
        authorizationState[it.from][it.nonce] = true;
        emit AuthorizationUsed(it.from, it.nonce);
        _transfer(it.from, it.to, it.value);
    }

    function _transfer(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        require(value <= balanceOf(from), "ERC20: transfer amount exceeds balance");
        _balanceAndBlacklist[from] -= value;
        _balanceAndBlacklist[to] += value;
        emit Transfer(from, to, value);
    }

    function _approve(address holder, address spender, uint256 value) private {
        require(spender != address(0), "ERC20: approve to the zero address");
        allowance[holder][spender] = value;
        emit Approval(holder, spender, value);
    }

    function _isSignedBy(address signer, bytes32 data, bytes memory signature) private view returns (bool) {
        bytes32 hash = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), data));
        if (signer.code.length > 0) {
            (bool ok, bytes memory answer) =
                signer.staticcall(abi.encodeCall(IERC1271.isValidSignature, (hash, signature)));
            return ok && answer.length >= 32 && bytes32(answer) == bytes32(IERC1271.isValidSignature.selector);
        }
        if (signature.length != 65) return false;
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
        return signer != address(0) && ecrecover(hash, v, r, s) == signer;
    }
}
