import type { ExistingAccount } from './account-history.ts';
import { heedHealth, isValid } from './block-calls.ts';
import { type Block, LIFETIME_BLOCKS } from './chain.ts';
import { errorSentence, invalidParams, RpcError, type TransactionError } from './errors.ts';
import { type Executed, feeOf, type Outcome } from './execute.ts';
import {
  type Config,
  commitmentOf,
  committed,
  configAt,
  heedMinContext,
  listAt,
  type Params,
  readAddress,
  readSignature,
  textAt,
} from './params.ts';
import { presentAccount, presentStatus, presentTransaction } from './present.ts';
import { inContext, type View } from './view.ts';
import { fromBase64, isSigned, readMessage, readTransaction, type WireTransaction } from './wire.ts';

const MOST_SIGNATURES = 256;
const MOST_LISTED = 1_000;
const RANK = { processed: 0, confirmed: 1, finalized: 2 };

/** The calls that send transactions and look for them. */
export const TRANSACTION_CALLS = {
  sendTransaction: (view: View, params: Params) => {
    const config = configAt(params, 1);
    const wire = readTransaction(textAt(params, 0), encodingOf(config));
    if (config.skipPreflight !== true) preflight(view, wire, config);
    if (view.dropTransactions > 0) view.dropTransactions -= 1;
    else if (!view.chain.transactions.has(wire.signature)) view.chain.pool.set(wire.signature, wire);
    view.sent();
    return wire.signature;
  },

  simulateTransaction: (view: View, params: Params) => {
    const config = configAt(params, 1);
    const replaces = config.replaceRecentBlockhash === true;
    if (replaces && config.sigVerify === true)
      throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
    const wire = readTransaction(textAt(params, 0), encodingOf(config));
    const block = view.bank(config);
    if (config.sigVerify === true && !isSigned(wire))
      throw new RpcError(-32_003, 'Transaction signature verification failure');
    const refusal = replaces ? undefined : refusalOf(view, wire, block);
    if (refusal !== undefined) return inContext(block, presentRefusal(refusal));
    const { after, ...outcome } = view.chain.simulate(wire, block.slot);
    return inContext(block, {
      ...presentOutcome(outcome),
      accounts: presentAfter(after, view, config, block),
      replacementBlockhash: replaces
        ? { blockhash: block.hash, lastValidBlockHeight: block.height + LIFETIME_BLOCKS }
        : null,
    });
  },

  getFeeForMessage: (view: View, params: Params) => {
    const bytes = fromBase64(textAt(params, 0));
    const block = view.bank(configAt(params, 1));
    let message: ReturnType<typeof readMessage>;
    try {
      message = readMessage(bytes);
    } catch {
      throw invalidParams('failed to deserialize solana_message::versions::VersionedMessage');
    }
    return inContext(block, isValid(view, message.lifetimeToken, block) ? feeOf({ message }) : null);
  },

  getSignatureStatuses: (view: View, params: Params) => {
    const signatures = listAt(params, 0, MOST_SIGNATURES).map(readSignature);
    const searches = configAt(params, 1).searchTransactionHistory === true;
    const block = view.block('processed');
    return inContext(
      block,
      signatures.map((one) => statusOf(view, one, searches)),
    );
  },

  getSignaturesForAddress: (view: View, params: Params) => {
    const account = readAddress(textAt(params, 0));
    const config = configAt(params, 1);
    const commitment = committed(config);
    const { limit = MOST_LISTED } = config;
    if (typeof limit !== 'number' || limit < 1 || limit > MOST_LISTED)
      throw invalidParams(`Invalid limit; max ${MOST_LISTED}`);
    heedMinContext(config, view.block(commitment).slot);
    const seen = view.chain.mentions(account).filter((one) => isServed(view, one, commitment));
    return cut(seen, config)
      .slice(0, limit)
      .map((one) => presentListed(view, one));
  },

  getTransaction: (view: View, params: Params) => {
    const signature = readSignature(textAt(params, 0));
    const second = params[1];
    const config = typeof second === 'string' ? { encoding: second } : configAt(params, 1);
    const commitment = committed(config);
    const executed = view.chain.transactions.get(signature);
    if (executed === undefined || !isServed(view, executed, commitment)) return null;
    return {
      slot: executed.slot,
      blockTime: executed.time,
      ...presentTransaction(executed, config),
    };
  },
};

function encodingOf({ encoding = 'base58' }: Config): 'base58' | 'base64' {
  if (encoding === 'base58' || encoding === 'base64') return encoding;
  throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`);
}

/** What a node looks at before it passes a transaction on. @throws RpcError */
function preflight(view: View, wire: WireTransaction, config: Config): void {
  if (!isSigned(wire)) throw new RpcError(-32_003, 'Transaction signature verification failure');
  heedHealth(view);
  const block = view.block(commitmentOf({ commitment: config.preflightCommitment ?? 'finalized' }));
  heedMinContext(config, block.slot);
  const refusal = refusalOf(view, wire, block);
  const outcome = refusal === undefined ? view.chain.simulate(wire, block.slot) : undefined;
  const err = refusal ?? outcome?.err ?? null;
  if (err === null) return;
  const data = outcome === undefined ? presentRefusal(err) : { ...presentOutcome(outcome), accounts: null };
  throw new RpcError(-32_002, `Transaction simulation failed: ${errorSentence(err)}`, data);
}

/** What keeps a transaction out of a block before it is run. */
function refusalOf(view: View, wire: WireTransaction, block: Block): TransactionError | undefined {
  if (!isValid(view, wire.message.lifetimeToken, block)) return 'BlockhashNotFound';
  const executed = view.chain.transactions.get(wire.signature);
  return executed !== undefined && executed.slot <= block.slot ? 'AlreadyProcessed' : undefined;
}

function presentRefusal(err: TransactionError) {
  return {
    err,
    logs: [],
    accounts: null,
    unitsConsumed: 0,
    returnData: null,
    innerInstructions: null,
    replacementBlockhash: null,
  };
}

function presentOutcome({ err, logs, unitsConsumed, returnData }: Outcome) {
  const nothing = { innerInstructions: null, replacementBlockhash: null };
  return { err, logs, unitsConsumed, returnData, ...nothing };
}

function presentAfter(after: ExistingAccount[], view: View, { accounts }: Config, { slot }: Block) {
  if (typeof accounts !== 'object' || accounts === null || !('addresses' in accounts)) return null;
  const { addresses } = accounts;
  if (!Array.isArray(addresses)) throw invalidParams('Invalid params: expected addresses.');
  return addresses.map((one) => {
    const at = readAddress(String(one));
    const changed = after.find((account) => account.address === at);
    const account = changed ?? view.chain.account(at, slot);
    const gone = account.exists && account.lamports === 0n;
    return gone ? null : presentAccount(account, { encoding: 'base64' });
  });
}

/** Without the search a node knows the last 150 blocks alone. */
function statusOf(view: View, signature: string, searches: boolean) {
  const executed = view.chain.transactions.get(signature);
  const commitment = executed === undefined ? undefined : view.commitmentOf(executed.slot);
  if (executed === undefined || commitment === undefined) return null;
  const { slot, err } = executed;
  const behind = view.block('processed').height - executed.height;
  if (!searches && behind > LIFETIME_BLOCKS) return null;
  if (!view.keeps(slot)) return null;
  return {
    slot,
    confirmations: commitment === 'finalized' ? null : behind,
    err,
    status: presentStatus(err),
    confirmationStatus: commitment,
  };
}

function isServed(view: View, { slot }: Executed, least: 'confirmed' | 'finalized'): boolean {
  const commitment = view.commitmentOf(slot);
  return commitment !== undefined && RANK[commitment] >= RANK[least] && view.keeps(slot);
}

/** Behind `before`, up to `until`. Nothing follows a `before` that the node does not know. */
function cut(listed: Executed[], { before, until }: Config): Executed[] {
  const signatures = listed.map(({ wire }) => wire.signature);
  const from = typeof before === 'string' ? signatures.indexOf(readSignature(before)) + 1 : 0;
  if (typeof before === 'string' && from === 0) return [];
  const to = typeof until === 'string' ? signatures.indexOf(readSignature(until)) : -1;
  return listed.slice(from, to === -1 ? undefined : to);
}

function presentListed(view: View, { wire, slot, err, time }: Executed) {
  return {
    signature: wire.signature,
    slot,
    err,
    memo: memoOf(wire),
    blockTime: time,
    confirmationStatus: view.commitmentOf(slot) ?? 'processed',
  };
}

const MEMO_PROGRAMS = new Set<string>([
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
]);

/** `[5] hello`, several of them with `; ` between. */
function memoOf({ message }: WireTransaction): string | null {
  const memos = message.instructions
    .filter(({ programAddressIndex: index }) => MEMO_PROGRAMS.has(message.staticAccounts[index] ?? ''))
    .map(({ data = new Uint8Array() }) => Buffer.from(data))
    .map((bytes) => `[${bytes.length}] ${bytes.toString()}`);
  return memos.length === 0 ? null : memos.join('; ');
}
