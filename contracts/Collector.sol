// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20, Tokens} from "./Tokens.sol";

interface IERC1271 {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

interface IERC2612 {
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external;
}

/// Pulls what a subscription costs from wallets that agreed to it, into the one address that the merchant named.
///
/// A payer signs a mandate and gives this contract an allowance. The operator of the mandate's account may then move up
/// to `cap` for each subscription in each window of time, to the account's `home` and nowhere else. The contract holds
/// no coins, and nobody owns, pauses or upgrades it.
contract Collector {
    struct Account {
        address owner;
        /// Charges; the owner replaces it at once. Zero: nobody charges.
        address operator;
        /// When `nextHome` takes the place of `home`; 0: no move was ordered.
        uint40 movesAt;
        address home;
        address nextHome;
    }

    /// What a payer agrees to, as EIP-712 typed data.
    struct Mandate {
        address payer;
        address token;
        /// Whose: `accountOf` of its first owner, operator and home.
        bytes32 account;
        /// Most units for one subscription in one window.
        uint64 cap;
        /// Least seconds of a window.
        uint32 period;
        /// Most subscriptions that it serves, each with a cap of its own.
        uint16 subscriptions;
        /// Unix seconds between which it may be charged; an end of 0 is none.
        uint40 start;
        uint40 end;
        /// Makes mandates distinct that are equal otherwise.
        bytes32 salt;
    }

    struct Charge {
        /// Its account is charged once by it, whatever else is named with it.
        bytes32 id;
        bytes32 subscription;
        uint64 amount;
        /// Unix seconds of the period that is paid, below 2^32 (2106); the end is not part of it.
        uint32 windowStart;
        uint32 windowEnd;
    }

    struct Permit {
        uint256 value;
        uint256 deadline;
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    enum Status {
        Missing,
        Active,
        Revoked
    }

    struct State {
        Status status;
        /// Subscriptions that were charged by it.
        uint16 subscriptions;
    }

    /// What was charged for a subscription in the newest window and in one before it, which do not overlap. An end of 0:
    /// there is none. One word of storage.
    struct Windows {
        uint32 start;
        uint32 end;
        uint64 charged;
        uint32 olderStart;
        uint32 olderEnd;
        uint64 olderCharged;
    }

    struct Query {
        bytes32 mandate;
        address token;
        address payer;
    }

    struct Answer {
        Status status;
        uint256 subscriptions;
        /// The payer's, and what this contract may still take of it, by all mandates of that token.
        uint256 balance;
        uint256 allowance;
    }

    event Opened(bytes32 indexed account, address indexed owner, address operator, address home);
    event OperatorSet(bytes32 indexed account, address operator);
    event HomeMoves(bytes32 indexed account, address home, uint256 movesAt);
    event Activated(bytes32 indexed mandate, address indexed payer, bytes32 indexed account);
    event Revoked(bytes32 indexed mandate, address indexed payer, bytes32 indexed account);
    /// `amount` left the payer. A fee of the token is borne by `home`: credit by the token's `Transfer` events.
    event Charged(bytes32 indexed account, bytes32 indexed id, bytes32 indexed mandate, uint256 amount);
    /// An earlier transaction has charged by that id: this one moved nothing.
    event ChargedBefore(bytes32 indexed account, bytes32 indexed id);

    error NoAddress();
    error AlreadyOpen();
    error NotOwner();
    error NotOperator();
    error NotAllowed();
    error BadSignature();
    error AlreadyActive();
    error MandateRevoked();
    error MandateMissing();
    error OutsideTerm();
    error BadWindow();
    error CapExceeded();
    error TooManySubscriptions();
    error NoToken();
    error InsufficientBalance();
    error InsufficientAllowance();
    error TransferFailed();

    /// A stolen owner's key moves nothing for so long, and the payers' next charges still reach the old home.
    uint256 public constant HOME_DELAY = 2 days;
    /// A window begins at most so long from now, for clocks that differ.
    uint256 public constant WINDOW_AHEAD = 1 days;
    /// A window has ended at most so long ago, for charges that had to wait. Otherwise the windows of a year in which
    /// nothing was charged could all be charged on one day.
    uint256 public constant WINDOW_LATE = 7 days;

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant MANDATE_TYPEHASH = keccak256(
        "Mandate(address payer,address token,bytes32 account,uint64 cap,uint32 period,uint16 subscriptions,uint40 start,uint40 end,bytes32 salt)"
    );
    bytes32 private constant NAME = keccak256("Florin Collector");
    bytes32 private constant VERSION = keccak256("1");

    /// Half of the order of secp256k1. Each signature has a twin above it, which is refused.
    uint256 private constant S_MAX = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    mapping(bytes32 account => Account) private _accounts;
    mapping(bytes32 mandate => State) private _states;
    mapping(bytes32 account => mapping(bytes32 id => bool)) private _charged;
    mapping(bytes32 mandate => mapping(bytes32 subscription => Windows)) private _windows;

    // Accounts of merchants

    /// The id follows from the first owner, operator and home. So it is known before anything is on the chain, and
    /// whoever opens it gives it to that owner.
    function accountOf(address owner, address operator, address home) public pure returns (bytes32) {
        return keccak256(abi.encode(owner, operator, home));
    }

    /// Anybody may open an account: its id leaves nothing to choose.
    function open(address owner, address operator, address home) external {
        if (owner == address(0) || operator == address(0) || home == address(0)) revert NoAddress();
        bytes32 id = accountOf(owner, operator, home);
        Account storage account = _accounts[id];
        if (account.owner != address(0)) revert AlreadyOpen();
        account.owner = owner;
        account.operator = operator;
        account.home = home;
        emit Opened(id, owner, operator, home);
    }

    /// At once: a stolen operator's key is replaced before it charges. Zero stops all charges.
    function setOperator(bytes32 id, address operator) external {
        Account storage account = _ownAccount(id);
        account.operator = operator;
        emit OperatorSet(id, operator);
    }

    /// Two days from now; a move that was ordered before and is not over is dropped. Naming the present home stops one.
    function moveHome(bytes32 id, address home) external {
        if (home == address(0)) revert NoAddress();
        Account storage account = _ownAccount(id);
        account.home = _homeOf(account);
        account.nextHome = home;
        account.movesAt = uint40(block.timestamp + HOME_DELAY);
        emit HomeMoves(id, home, account.movesAt);
    }

    /// `home` is where a charge goes now. `movesAt` may be over: then `nextHome` is that home.
    function accountAt(bytes32 id)
        external
        view
        returns (address owner, address operator, address home, address nextHome, uint256 movesAt)
    {
        Account storage account = _accounts[id];
        return (account.owner, account.operator, _homeOf(account), account.nextHome, account.movesAt);
    }

    // Mandates of payers

    /// The mandate's id: the digest that its payer signs.
    function mandateIdOf(Mandate calldata mandate) public view returns (bytes32) {
        bytes32 domain =
            keccak256(abi.encode(DOMAIN_TYPEHASH, NAME, VERSION, block.chainid, address(this)));
        bytes32 terms = keccak256(
            abi.encode(
                MANDATE_TYPEHASH,
                mandate.payer,
                mandate.token,
                mandate.account,
                mandate.cap,
                mandate.period,
                mandate.subscriptions,
                mandate.start,
                mandate.end,
                mandate.salt
            )
        );
        return keccak256(abi.encodePacked("\x19\x01", domain, terms));
    }

    /// Anybody may bring a mandate that its payer has signed; the payer's own call needs no signature.
    function activate(Mandate calldata mandate, bytes calldata signature) external {
        _activate(mandate, signature);
    }

    /// As `activate`, after the payer's EIP-2612 permit. One that fails changes nothing: somebody may have sent it
    /// before, and an allowance that is missing shows in `read` and at each charge.
    function activateWithPermit(Mandate calldata mandate, bytes calldata signature, Permit calldata permit) external {
        bytes memory data = abi.encodeCall(
            IERC2612.permit,
            (mandate.payer, address(this), permit.value, permit.deadline, permit.v, permit.r, permit.s)
        );
        Tokens.callForWord(mandate.token, gasleft(), data);
        _activate(mandate, signature);
    }

    /// For good, also before the mandate was brought here. The payer's word, or the merchant's.
    function revoke(Mandate calldata mandate) external {
        if (msg.sender != mandate.payer && msg.sender != _accounts[mandate.account].operator) revert NotAllowed();
        bytes32 id = mandateIdOf(mandate);
        _states[id].status = Status.Revoked;
        emit Revoked(id, mandate.payer, mandate.account);
    }

    /// Moves `charge.amount` from the payer to the account's home, or reverts. A charge id that was used before is no
    /// error, it emits `ChargedBefore`: whoever has lost the first transaction then knows that there is one.
    function charge(Mandate calldata mandate, Charge calldata charge_) external {
        Account storage account = _accounts[mandate.account];
        if (msg.sender != account.operator) revert NotOperator();
        if (_charged[mandate.account][charge_.id]) {
            emit ChargedBefore(mandate.account, charge_.id);
            return;
        }
        _charged[mandate.account][charge_.id] = true;

        bytes32 id = mandateIdOf(mandate);
        _countCharge(id, mandate, charge_);
        emit Charged(mandate.account, charge_.id, id, charge_.amount);
        _pull(mandate.token, mandate.payer, _homeOf(account), charge_.amount);
    }

    // Reading

    /// Many mandates and their wallets at once.
    function read(Query[] calldata queries) external view returns (Answer[] memory answers) {
        answers = new Answer[](queries.length);
        for (uint256 i; i < queries.length; ++i) {
            Query calldata query = queries[i];
            State memory state = _states[query.mandate];
            answers[i] = Answer(
                state.status,
                state.subscriptions,
                IERC20(query.token).balanceOf(query.payer),
                IERC20(query.token).allowance(query.payer, address(this))
            );
        }
    }

    function windowsOf(bytes32 mandate, bytes32 subscription) external view returns (Windows memory) {
        return _windows[mandate][subscription];
    }

    function isCharged(bytes32 account, bytes32 id) external view returns (bool) {
        return _charged[account][id];
    }

    function _ownAccount(bytes32 id) private view returns (Account storage account) {
        account = _accounts[id];
        if (msg.sender != account.owner) revert NotOwner();
    }

    function _homeOf(Account storage account) private view returns (address) {
        uint256 movesAt = account.movesAt;
        return movesAt != 0 && block.timestamp >= movesAt ? account.nextHome : account.home;
    }

    function _activate(Mandate calldata mandate, bytes calldata signature) private {
        bytes32 id = mandateIdOf(mandate);
        Status status = _states[id].status;
        if (status == Status.Revoked) revert MandateRevoked();
        if (status == Status.Active) revert AlreadyActive();
        if (msg.sender != mandate.payer && !_isSignedBy(mandate.payer, id, signature)) revert BadSignature();
        _states[id].status = Status.Active;
        emit Activated(id, mandate.payer, mandate.account);
    }

    /// Whether the mandate allows the charge; if so, counts it to its window.
    function _countCharge(bytes32 id, Mandate calldata mandate, Charge calldata charge_) private {
        State storage state = _states[id];
        Status status = state.status;
        if (status == Status.Revoked) revert MandateRevoked();
        if (status == Status.Missing) revert MandateMissing();
        if (block.timestamp < mandate.start) revert OutsideTerm();
        if (mandate.end != 0 && block.timestamp >= mandate.end) revert OutsideTerm();

        uint256 start = charge_.windowStart;
        uint256 end = charge_.windowEnd;
        if (end < start + mandate.period || end <= start) revert BadWindow();
        if (start > block.timestamp + WINDOW_AHEAD || end + WINDOW_LATE <= block.timestamp) revert BadWindow();

        Windows memory windows = _windows[id][charge_.subscription];
        if (windows.end == 0) {
            uint16 subscriptions = state.subscriptions;
            if (subscriptions >= mandate.subscriptions) revert TooManySubscriptions();
            state.subscriptions = subscriptions + 1;
        }
        _countInWindow(windows, mandate.cap, charge_);
        _windows[id][charge_.subscription] = windows;
    }

    /// Windows that overlap become one, with the sum of both: at every moment, the charges of the windows around it are
    /// at most the cap. None may reach back before the older one that is kept, as what lies there is forgotten.
    function _countInWindow(Windows memory kept, uint64 cap, Charge calldata charge_) private pure {
        uint32 start = charge_.windowStart;
        uint32 end = charge_.windowEnd;
        if (start >= kept.end) {
            (kept.olderStart, kept.olderEnd, kept.olderCharged) = (kept.start, kept.end, kept.charged);
            (kept.start, kept.end) = (start, end);
            kept.charged = _sum(0, charge_.amount, cap);
        } else if (end > kept.start) {
            if (start < kept.olderEnd) revert BadWindow();
            if (start < kept.start) kept.start = start;
            if (end > kept.end) kept.end = end;
            kept.charged = _sum(kept.charged, charge_.amount, cap);
        } else if (start >= kept.olderEnd) {
            (kept.olderStart, kept.olderEnd) = (start, end);
            kept.olderCharged = _sum(0, charge_.amount, cap);
        } else {
            if (start < kept.olderStart) revert BadWindow();
            if (end > kept.olderEnd) kept.olderEnd = end;
            kept.olderCharged = _sum(kept.olderCharged, charge_.amount, cap);
        }
    }

    /// What was charged before is never above the cap, which is part of the mandate's id.
    function _sum(uint64 charged, uint64 amount, uint64 cap) private pure returns (uint64) {
        if (amount > cap - charged) revert CapExceeded();
        return charged + amount;
    }

    function _pull(address token, address from, address to, uint256 amount) private {
        if (token.code.length == 0) revert NoToken();
        // USDT burns all the gas that it was given when the balance or the allowance is too small.
        if (IERC20(token).balanceOf(from) < amount) revert InsufficientBalance();
        if (IERC20(token).allowance(from, address(this)) < amount) revert InsufficientAllowance();
        bytes memory data = abi.encodeCall(IERC20.transferFrom, (from, to, amount));
        if (!Tokens.tryCall(token, gasleft(), data)) revert TransferFailed();
    }

    /// Keys sign for accounts with code too (EIP-7702), so a key's signature is tried first. Contracts answer by
    /// ERC-1271.
    function _isSignedBy(address signer, bytes32 digest, bytes calldata signature) private view returns (bool) {
        if (signature.length == 65) {
            bytes32 s = bytes32(signature[32:64]);
            uint8 v = uint8(signature[64]);
            if (uint256(s) <= S_MAX && (v == 27 || v == 28)) {
                address recovered = ecrecover(digest, v, bytes32(signature[:32]), s);
                if (recovered != address(0) && recovered == signer) return true;
            }
        }
        if (signer.code.length == 0) return false;
        (bool called, bytes memory answer) =
            signer.staticcall(abi.encodeCall(IERC1271.isValidSignature, (digest, signature)));
        return called && answer.length >= 32 && bytes32(answer) == bytes32(IERC1271.isValidSignature.selector);
    }
}
