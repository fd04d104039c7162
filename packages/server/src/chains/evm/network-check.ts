import { ASSETS } from '@florin/contract/money';
import type { Logger } from '../../platform/observability/index.ts';
import { createJsonPoster } from '../../platform/outbound/index.ts';
import { RpcEndpoint } from '../rpc/endpoint.ts';
import { EndpointFailed, JSON_RPC } from '../rpc/messages.ts';
import { CheckedRpc, NetworkCheck } from '../rpc/network-check.ts';
import { NodeError, type NodeRequest } from '../rpc/node.ts';
import type { EndpointReport } from '../rpc/report.ts';
import { identityOf } from './identity.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';

const DECIMALS_CALL = '0x313ce567';
const SYMBOL_CALL = '0x95d89b41';
const TOKEN_DECIMALS = 6n;
const WORD = 64;

/** Asks each endpoint for itself. Never throws: an endpoint that is away is a problem of it. */
export async function checkEvmEndpoints(
  network: EvmNetwork,
  { log, ca, timeoutMs }: { log: Logger; ca?: string | undefined; timeoutMs?: number | undefined },
): Promise<EndpointReport[]> {
  const poster = createJsonPoster({ ca, timeoutMs });
  const { requests, findMistakes } = contractQuestions(network);
  const final = { method: 'eth_getBlockByNumber', params: [network.finality.tag, false] };
  const identity = identityOf(network);
  try {
    return await Promise.all(
      network.endpoints.map(async ({ url, isOwn }): Promise<EndpointReport> => {
        const endpoint = new RpcEndpoint(
          { url, isOwn },
          { poster, log, name: network.name, identity, wire: JSON_RPC, restMs: 0 },
        );
        const problems: string[] = [];
        try {
          const answers = await endpoint.send([...requests, final]);
          const results = answers.map((answer) => ('result' in answer ? answer.result : answer.refusal));
          problems.push(...findMistakes(results));
          const block = results.at(-1);
          if (block === null || block instanceof NodeError)
            problems.push(`does not answer the tag ${network.finality.tag}: it cannot tell what is final`);
        } catch (error) {
          if (!(error instanceof EndpointFailed)) throw error;
          problems.push(error.message);
        }
        return { host: endpoint.host, own: isOwn, ok: problems.length === 0, problems };
      }),
    );
  } finally {
    await poster.close();
  }
}

/** A node that answers once tokens and contracts were found as configured, and compares them each hour. */
export class CheckedNode extends CheckedRpc<EvmNode> implements EvmNode {
  constructor(node: EvmNode, network: EvmNetwork, log: Logger) {
    const { requests, findMistakes } = contractQuestions(network);
    const check = new NetworkCheck(
      { network: 'erc20', name: network.name, log },
      async () => findMistakes(await node.agreedMany(requests))[0],
    );
    super(node, check);
  }

  async newest(tag: 'latest' | 'finalized'): Promise<unknown> {
    return await (await this.checked()).newest(tag);
  }

  async agreedFrom(height: bigint, requests: readonly NodeRequest[]): Promise<unknown[]> {
    return await (await this.checked()).agreedFrom(height, requests);
  }
}

/** What to ask for each token and contract, and what the answers in that order show. */
function contractQuestions({ tokens, batchPayout, sweeper, collector }: EvmNetwork) {
  const requests: NodeRequest[] = [];
  const judges: ((result: unknown) => string | undefined)[] = [];
  const add = (method: string, params: unknown[], judge: (result: unknown) => string | undefined) => {
    requests.push({ method, params });
    judges.push(judge);
  };
  const needCode = (field: string, address: string) =>
    add('eth_getCode', [address, 'latest'], (result) =>
      isHex(result) && result.length > 2 ? undefined : `${field} ${address} has no code on this chain`,
    );
  for (const asset of ASSETS) {
    const address = tokens[asset]?.address;
    if (address === undefined) continue;
    const field = `tokens.${asset}`;
    needCode(field, address);
    add('eth_call', [{ to: address, data: DECIMALS_CALL }, 'latest'], (result) =>
      isHex(result) && result.length === 2 + WORD && BigInt(result) === TOKEN_DECIMALS
        ? undefined
        : `${field} ${address} does not have 6 decimals`,
    );
    add('eth_call', [{ to: address, data: SYMBOL_CALL }, 'latest'], (result) =>
      symbolIn(result) === asset ? undefined : `${field} ${address} does not call itself ${asset}`,
    );
  }
  if (batchPayout !== null) needCode('contracts.batch_payout', batchPayout);
  if (sweeper !== null) needCode('contracts.sweeper', sweeper);
  if (collector !== null) needCode('contracts.collector', collector);
  const findMistakes = (results: readonly unknown[]): string[] =>
    judges.flatMap((judge, place) => judge(results[place]) ?? []);
  return { requests, findMistakes };
}

function isHex(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value);
}

/** The only string of an ABI answer: its place, its length, its bytes. */
function symbolIn(result: unknown): string | undefined {
  if (!isHex(result) || result.length < 2 + 2 * WORD) return undefined;
  const bytes = Buffer.from(result.slice(2), 'hex');
  const length = Number(BigInt(`0x${bytes.toString('hex', WORD / 2, WORD)}`));
  return length > WORD ? undefined : bytes.toString('utf8', WORD, WORD + length);
}
