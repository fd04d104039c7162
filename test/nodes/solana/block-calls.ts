import { type Block, LIFETIME_BLOCKS } from './chain.ts';
import { invalidParams, RpcError } from './errors.ts';
import {
  type Config,
  committed,
  configAt,
  listAt,
  numberAt,
  type Params,
  readAddress,
  textAt,
} from './params.ts';
import { presentTransaction } from './present.ts';
import { API_VERSION, inContext, type View } from './view.ts';

const MOST_BLOCKS = 500_000;
const UNHEALTHY_BLOCKS = 128;
const MOST_FEE_BLOCKS = 150;
const SLOTS_IN_EPOCH = 432_000;

/** The calls about slots, blocks and the node itself. */
export const BLOCK_CALLS = {
  getHealth: (view: View) => {
    heedHealth(view);
    return 'ok';
  },

  getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': 1 }),
  getGenesisHash: (view: View) => view.genesisHash,
  getSlot: (view: View, params: Params) => view.bank(configAt(params, 0)).slot,
  getBlockHeight: (view: View, params: Params) => view.bank(configAt(params, 0)).height,
  getFirstAvailableBlock: (view: View) => view.chain.firstAvailable,
  minimumLedgerSlot: (view: View) => view.chain.firstAvailable,

  getEpochInfo: (view: View, params: Params) => {
    const { slot, height } = view.bank(configAt(params, 0));
    return {
      absoluteSlot: slot,
      blockHeight: height,
      epoch: Math.floor(slot / SLOTS_IN_EPOCH),
      slotIndex: slot % SLOTS_IN_EPOCH,
      slotsInEpoch: SLOTS_IN_EPOCH,
      transactionCount: view.chain.transactions.size,
    };
  },

  getLatestBlockhash: (view: View, params: Params) => {
    const block = view.bank(configAt(params, 0));
    const value = { blockhash: block.hash, lastValidBlockHeight: block.height + LIFETIME_BLOCKS };
    return inContext(block, value);
  },

  isBlockhashValid: (view: View, params: Params) => {
    const block = view.bank(configAt(params, 1));
    return inContext(block, isValid(view, readAddress(textAt(params, 0)), block));
  },

  getRecentPrioritizationFees: (view: View, params: Params) => {
    if (params.length > 0) listAt(params, 0, 128).map(readAddress);
    return view
      .newest('processed', MOST_FEE_BLOCKS)
      .map(({ slot, priorityFee }) => ({ slot, prioritizationFee: priorityFee }));
  },

  getBlock: (view: View, params: Params) => {
    const slot = numberAt(params, 0);
    const config = configAt(params, 1);
    const block = findBlock(view, slot, committed(config));
    const parent = view.chain.blocks.findLast((one) => one.slot < slot);
    return {
      blockhash: block.hash,
      previousBlockhash: parent?.hash ?? view.chain.genesisHash,
      parentSlot: parent?.slot ?? 0,
      blockHeight: block.height,
      blockTime: block.time,
      ...presentTransactions(block, config),
      ...(config.rewards !== false && { rewards: [] }),
    };
  },

  getBlocks: (view: View, params: Params) => {
    const [from, to] = [numberAt(params, 0), params[1]];
    const config = configAt(params, typeof to === 'number' ? 2 : 1);
    const newest = view.block(committed(config)).slot;
    const until = Math.min(typeof to === 'number' ? to : newest, newest);
    if (until - from > MOST_BLOCKS) throw invalidParams(`Slot range too large; max ${MOST_BLOCKS}`);
    return slotsFrom(view, from).filter((slot) => slot <= until);
  },

  getBlocksWithLimit: (view: View, params: Params) => {
    const [from, limit] = [numberAt(params, 0), numberAt(params, 1)];
    if (limit > MOST_BLOCKS) throw invalidParams(`Limit too large; max ${MOST_BLOCKS}`);
    const newest = view.block(committed(configAt(params, 2))).slot;
    return slotsFrom(view, from)
      .filter((slot) => slot <= newest)
      .slice(0, limit);
  },

  getBlockTime: (view: View, params: Params) => findBlock(view, numberAt(params, 0), 'confirmed').time,
};

/** A node is unhealthy where it is more than 128 slots behind. */
export function heedHealth({ lag }: View): void {
  if (lag > UNHEALTHY_BLOCKS)
    throw new RpcError(-32_005, `Node is behind by ${lag} slots`, { numSlotsBehind: lag });
}

export function isValid(view: View, hash: string, block: Block): boolean {
  const height = view.chain.heightOf(hash);
  return height !== undefined && height <= block.height && block.height - height <= LIFETIME_BLOCKS;
}

function slotsFrom(view: View, from: number): number[] {
  return view.chain.blocks.map(({ slot }) => slot).filter((slot) => slot >= from && view.keeps(slot));
}

function findBlock(view: View, slot: number, commitment: 'confirmed' | 'finalized'): Block {
  const { chain } = view;
  if (slot < chain.firstAvailable)
    throw new RpcError(
      -32_001,
      `Block ${slot} cleaned up, does not exist on node. First available block: ${chain.firstAvailable}`,
    );
  if (slot > view.block(commitment).slot) throw new RpcError(-32_004, `Block not available for slot ${slot}`);
  const block = view.keeps(slot) ? chain.blocks.find((one) => one.slot === slot) : undefined;
  if (block === undefined)
    throw new RpcError(-32_007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
  return block;
}

function presentTransactions({ transactions }: Block, config: Config) {
  const { transactionDetails = 'full' } = config;
  if (transactionDetails === 'none') return {};
  if (transactionDetails === 'signatures')
    return { signatures: transactions.map(({ wire }) => wire.signature) };
  if (transactionDetails === 'full')
    return { transactions: transactions.map((one) => presentTransaction(one, config)) };
  throw invalidParams(
    `Invalid params: this node does not know transactionDetails ${String(transactionDetails)}.`,
  );
}
