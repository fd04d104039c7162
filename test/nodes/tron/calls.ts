import { utils } from 'tronweb';
import { amountOf, invalid, Refusal, resourceOf } from './check.ts';
import { intrinsicGas } from './evm.ts';
import {
  hexOf,
  presentAccount,
  presentBlock,
  presentRefusal,
  presentResources,
  presentTransaction,
} from './present.ts';
import { delegatable, PARAMETERS } from './resources.ts';
import type { TronView } from './view.ts';
import {
  base58Address,
  evmAddress,
  hexAddress,
  readJson,
  readSigned,
  type TronTransaction,
  textOf,
  Unreadable,
} from './wire.ts';

type Fields = Record<string, unknown>;
type Call = (view: TronView, fields: Fields, solid: boolean) => unknown;

function presentTransactionOf(view: TronView, id: string, solid: boolean) {
  const info = view.info(id, solid);
  const found = info && view.chain.blockAt(info.blockNumber).included.find(({ tx }) => tx.id === id);
  if (found !== undefined) return presentTransaction(found.tx, found.info);
  const waiting = solid ? undefined : view.waiting(id);
  return waiting === undefined ? {} : presentTransaction(waiting);
}

function blockBy(view: TronView, { num, id_or_num: either }: Fields, solid: boolean) {
  const asked = num ?? either;
  if (asked === undefined) return view.head(solid);
  if (/^[0-9a-f]{64}$/i.test(textOf(asked)))
    return view.chain.blocks.find(({ id, number }) => id === asked && number <= view.head(solid).number);
  return view.block(Number(asked), solid);
}

const nothing = {};
/** Blocks of one answer. */
const RANGE_MAX = 100;

/** What the solid view answers as well, as of the solid block. */
const BOTH: Record<string, Call> = {
  getnowblock: (view, _, solid) => presentBlock(view.head(solid)),
  getblock: (view, fields, solid) => {
    const block = blockBy(view, fields, solid);
    return block === undefined ? nothing : presentBlock(block, fields.detail === true);
  },
  getblockbylimitnext: (view, { startNum, endNum }, solid) => {
    const [start, end] = [Number(startNum ?? 0), Number(endNum ?? 0)];
    if (!view.ranges || end <= start || end - start > RANGE_MAX) return nothing;
    const numbers = Array.from({ length: end - start }, (_, i) => start + i);
    const block = numbers.flatMap((number) => view.block(number, solid) ?? []);
    return block.length === 0 ? nothing : { block: block.map((one) => presentBlock(one)) };
  },
  getblockbynum: (view, fields, solid) => {
    const block = view.block(Number(fields.num ?? 0), solid);
    return block === undefined ? nothing : presentBlock(block);
  },
  getblockbyid: (view, { value }, solid) => {
    const block = blockBy(view, { id_or_num: textOf(value) }, solid);
    return block === undefined ? nothing : presentBlock(block);
  },
  gettransactionbyid: (view, { value }, solid) => presentTransactionOf(view, textOf(value), solid),
  gettransactioninfobyid: (view, { value }, solid) =>
    view.history ? (view.info(textOf(value), solid) ?? nothing) : nothing,
  // Nothing for a block without transactions, and for one that the node does not have; of the first block something else.
  gettransactioninfobyblocknum: (view, { num }, solid) => {
    const number = Number(num ?? 0);
    return number <= 0
      ? nothing
      : (view.block(number, solid)?.included.map(({ info }) => view.shown(info)) ?? []);
  },
  getaccount: (view, { address, visible }, solid) => {
    const account = view.chain.account(hexAddress(address), view.head(solid).number);
    return account === undefined ? nothing : presentAccount(account, visible === true);
  },
  getdelegatedresourcev2: (view, { fromAddress, toAddress }, solid) => {
    const [from, to] = [hexAddress(fromAddress), hexAddress(toAddress)];
    const out = view.chain.account(from, view.head(solid).number)?.delegatedOut;
    const [energy, bandwidth] = [out?.energy[to] ?? 0, out?.bandwidth[to] ?? 0];
    if (energy + bandwidth === 0) return nothing;
    return {
      delegatedResource: [
        {
          from,
          to,
          ...(bandwidth > 0 && { frozen_balance_for_bandwidth: bandwidth }),
          ...(energy > 0 && { frozen_balance_for_energy: energy }),
        },
      ],
    };
  },
  getdelegatedresourceaccountindexv2: (view, { value, visible }, solid) => {
    const account = hexAddress(value);
    const out = view.chain.account(account, view.head(solid).number)?.delegatedOut;
    const to = Object.entries({ ...out?.bandwidth, ...out?.energy });
    const spell = visible === true ? base58Address : String;
    const toAccounts = to.flatMap(([address, lent]) => (lent > 0 ? [spell(address)] : []));
    return toAccounts.length === 0 ? nothing : { account: spell(account), toAccounts };
  },
  triggerconstantcontract: callConstant,
  estimateenergy: async (view, fields, solid) => {
    if (!view.estimates)
      return failed('CONTRACT_VALIDATE_ERROR', 'this node does not support estimate energy');
    const call = readCall(fields);
    const gas = await view.chain.evm.estimate(call);
    if (!(await view.chain.isContract(hexAddress(fields.contract_address))))
      return failed('CONTRACT_VALIDATE_ERROR', 'Smart contract is not exist.');
    if (gas === undefined) return await callConstant(view, fields, solid);
    return { result: { result: true }, energy_required: view.chain.energyOf(gas - intrinsicGas(call.data)) };
  },
};

const FULL: Record<string, Call> = {
  ...BOTH,
  broadcasttransaction: async (view, fields) => {
    const { tx, refusal } = await send(view, () => readJson(fields));
    if (refusal !== undefined) return presentRefusal(tx, refusal);
    return { result: true, txid: tx?.id };
  },
  broadcasthex: async (view, { transaction }) => {
    const { tx, refusal } = await send(view, () => readSigned(textOf(transaction)));
    const { code = 'SUCCESS', message = '' } = refusal ?? {};
    return {
      result: refusal === undefined,
      code,
      message,
      ...(tx !== undefined && { transaction: JSON.stringify(presentTransaction(tx)), txid: tx.id }),
    };
  },
  gettransactionfrompending: (view, { value }) => {
    const waiting = view.waiting(textOf(value));
    return waiting === undefined ? nothing : presentTransaction(waiting);
  },
  getpendingsize: (view) => ({ pendingTransactionSize: view.chain.pool.size }),
  getaccountresource: (view, { address }) => {
    const block = view.head(false);
    const account = view.chain.account(hexAddress(address), block.number);
    return account === undefined ? nothing : presentResources(account, block.time);
  },
  getchainparameters: () => ({
    chainParameter: Object.entries(PARAMETERS).map(([key, value]) => ({ key, value })),
  }),
  getenergyprices: () => ({ prices: `0:${PARAMETERS.getEnergyFee}` }),
  getbandwidthprices: () => ({ prices: `0:${PARAMETERS.getTransactionFee}` }),
  getcontract: async (view, { value }) => {
    const address = hexAddress(value);
    if (!(await view.chain.isContract(address))) return nothing;
    const { name = '', origin } = view.chain.contracts.get(address) ?? {};
    return {
      contract_address: address,
      name,
      ...(origin !== undefined && { origin_address: origin }),
      consume_user_resource_percent: 100,
      origin_energy_limit: 10_000_000,
    };
  },
  getcandelegatedmaxsize: (view, { owner_address: owner, type }) => {
    const block = view.head(false);
    const account = view.chain.account(hexAddress(owner), block.number);
    const most = account === undefined ? 0 : delegatable(account, resourceOf(type), block.time);
    return most === 0 ? nothing : { max_size: most };
  },
  getnodeinfo: (view) => ({
    block: `Num:${view.head(false).number},ID:${view.head(false).id}`,
    solidityBlock: `Num:${view.head(true).number},ID:${view.head(true).id}`,
    configNodeInfo: { codeVersion: '4.8.0' },
  }),
};

/** @returns undefined where the endpoint has no such path */
export function findCall(view: TronView, path: string): ((fields: Fields) => unknown) | undefined {
  const [, part, name = ''] = path.split('/');
  if (part === 'wallet') return bind(view, FULL[name], false);
  return part === 'walletsolidity' && view.solid ? bind(view, BOTH[name], true) : undefined;
}

function bind(view: TronView, call: Call | undefined, solid: boolean) {
  return call === undefined ? undefined : (fields: Fields) => call(view, fields, solid);
}

/** Reads, checks and takes a transaction. */
async function send(view: TronView, read: () => TronTransaction) {
  let tx: TronTransaction | undefined;
  try {
    tx = read();
    if (view.dropTransactions > 0) view.dropTransactions -= 1;
    else await view.chain.broadcast(tx);
    await view.sent();
    return { tx };
  } catch (error) {
    if (error instanceof Refusal) return { tx, refusal: error };
    if (error instanceof Unreadable) return { tx, refusal: invalid(error.message) };
    throw error;
  }
}

function readCall(fields: Fields) {
  const {
    owner_address: owner,
    contract_address: contract,
    function_selector: selector,
    parameter = '',
  } = fields;
  const data =
    typeof selector === 'string'
      ? `${utils.ethersUtils.keccak256(Buffer.from(selector)).slice(0, 10)}${textOf(parameter)}`
      : `0x${textOf(fields.data).replace(/^0x/, '')}`;
  return { from: evmAddress(hexAddress(owner)), to: evmAddress(hexAddress(contract)), data };
}

function failed(code: string, message: string) {
  return { result: { code, message: hexOf(message) } };
}

/** On the state of the head or of the solid block. A call that reverts is answered as a call that worked. */
async function callConstant(view: TronView, fields: Fields, solid: boolean) {
  if (!view.constant) return failed('CONTRACT_VALIDATE_ERROR', 'this node does not support constant');
  const contract = hexAddress(fields.contract_address);
  if (!(await view.chain.isContract(contract)))
    return failed('CONTRACT_VALIDATE_ERROR', 'Smart contract is not exist.');
  if (amountOf(fields.call_value) > 0) return failed('CONTRACT_VALIDATE_ERROR', 'this node sends no TRX');
  const call = readCall(fields);
  const block = view.head(solid);
  const result = await view.chain.callAt(call, block);
  const gas = result.ok ? await view.chain.evm.estimate(call) : undefined;
  return {
    result: { result: true, ...(!result.ok && { message: hexOf('REVERT opcode executed') }) },
    energy_used: view.chain.energyOf(Math.max(0, (gas ?? 0) - intrinsicGas(call.data))),
    constant_result: [result.data.slice(2)],
    transaction: { ret: [result.ok ? {} : { ret: 'FAILED' }], visible: false },
  };
}
