import { ASSETS } from '@florin/contract/money';
import type { Logger } from '../../platform/observability/index.ts';
import { createJsonPoster } from '../../platform/outbound/index.ts';
import { probeOf } from '../collector/mandates.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { RpcEndpoint } from '../rpc/endpoint.ts';
import { EndpointFailed } from '../rpc/messages.ts';
import { CheckedRpc, NetworkCheck } from '../rpc/network-check.ts';
import { NodeError, type NodeRequest } from '../rpc/node.ts';
import type { EndpointReport } from '../rpc/report.ts';
import { blockRequest, readIds } from './block-infos.ts';
import { type ConstantResult, constantCall, DECIMALS, readConstantResult } from './contract-call.ts';
import { identityOf } from './endpoints.ts';
import { readHeader } from './headers.ts';
import { siteOf } from './mandates.ts';
import type { TronNetwork } from './network.ts';
import { ofView, type Reached, type TronNode, type TronView } from './node.ts';
import { isNothing, readResult, unusable } from './node-answers.ts';
import { tronWire } from './wire.ts';

const SIX = 6n;
/** Blocks among which one with a transaction is looked for. */
const RECENT = 20n;

/** The contracts of the networks file, and what answers show of them. */
function contractQuestions(network: TronNetwork, view: TronView) {
  const { tokens, collector } = network;
  const named = ASSETS.flatMap((asset) => {
    const contract = tokens[asset]?.contract;
    if (contract === undefined) return [];
    return [{ field: `tokens.${asset}`, contract, data: DECIMALS, faultOf: tokenFault }];
  });
  const questions = [...named, ...(collector === null ? [] : [collectorQuestion(network, collector)])];
  const method = ofView(view, 'triggerconstantcontract');
  const requests = questions.map(
    ({ contract, data }): NodeRequest => ({ method, params: [constantCall(contract, contract, data)] }),
  );
  const findMistakes = (answers: readonly unknown[]): string[] =>
    questions.flatMap(({ field, contract, faultOf }, i) => {
      const fault = noContract(answers[i]) ?? faultOf(readConstantResult(answers[i]));
      return fault === undefined ? [] : [`${field} ${contract} ${fault}`];
    });
  return { requests, findMistakes };
}

/** Payers' signatures are worth nothing where it sees another number of the network, or is another contract. */
function collectorQuestion(network: TronNetwork, contract: string) {
  const { data, answer } = probeOf(siteOf(network));
  const faultOf = ({ data: found }: ConstantResult) =>
    `0x${found ?? ''}` === answer
      ? undefined
      : "is not the collector, or sees another number of the network than the end of its first block's id";
  return { field: 'contracts.collector', contract, data: data.slice(2), faultOf };
}

function noContract(answer: unknown): string | undefined {
  // Nobody lives there, or the node does not run calls.
  const { result } = Object(answer);
  return answer instanceof NodeError || Object(result).result !== true
    ? 'is no contract on this chain, or the node runs no constant calls (vm.supportConstant)'
    : undefined;
}

function tokenFault({ data }: ConstantResult): string | undefined {
  return data !== undefined && /^[0-9a-f]{64}$/.test(data) && BigInt(`0x${data}`) === SIX
    ? undefined
    : 'does not have 6 decimals';
}

/** A node that answers once tokens and collector were found as configured, and compares them each hour. */
export class CheckedTron extends CheckedRpc<TronNode> implements TronNode {
  constructor(node: TronNode, network: TronNetwork, log: Logger) {
    const { requests, findMistakes } = contractQuestions(network, 'solid');
    const check = new NetworkCheck(
      { network: 'trc20', name: network.name, log },
      async () => findMistakes(await node.agreedMany(requests))[0],
    );
    super(node, check);
  }

  async newest(view: TronView): Promise<unknown> {
    return await (await this.checked()).newest(view);
  }

  async agreedFrom(block: Reached, requests: readonly NodeRequest[]): Promise<unknown[]> {
    return await (await this.checked()).agreedFrom(block, requests);
  }

  async witnessesFrom(block: Reached, requests: readonly NodeRequest[]): Promise<unknown[][]> {
    return await (await this.checked()).witnessesFrom(block, requests);
  }

  async everywhere(request: NodeRequest): Promise<unknown[]> {
    return await (await this.checked()).everywhere(request);
  }
}

/** Asks each endpoint for itself. Never throws: an endpoint that is away is a problem of it. */
export async function checkTronEndpoints(
  network: TronNetwork,
  { log, ca, timeoutMs }: { log: Logger; ca?: string | undefined; timeoutMs?: number | undefined },
): Promise<EndpointReport[]> {
  const poster = createJsonPoster({ ca, timeoutMs });
  const { name, genesisHash } = network;
  const deps = {
    poster,
    log,
    name,
    identity: identityOf(genesisHash),
    wire: tronWire(network),
    restMs: 0,
  };
  try {
    return await Promise.all(
      network.endpoints.map(async (one): Promise<EndpointReport> => {
        const endpoint = new RpcEndpoint(one, deps);
        const problems: string[] = [];
        try {
          problems.push(...(await findProblems(endpoint, network)));
        } catch (error) {
          if (!(error instanceof EndpointFailed || error instanceof ChainUnavailable)) throw error;
          problems.push(error.message);
        }
        return { host: endpoint.host, own: one.isOwn, ok: problems.length === 0, problems };
      }),
    );
  } finally {
    await poster.close();
  }
}

/** Contracts and constant calls in both views, and the history of transactions, which a node may have switched off. */
async function findProblems(endpoint: RpcEndpoint, network: TronNetwork): Promise<string[]> {
  const ask = async (requests: readonly NodeRequest[]) =>
    (await endpoint.send(requests)).map((answer) => ('result' in answer ? answer.result : answer.refusal));
  const problems = new Set<string>();
  for (const view of ['head', 'solid'] as const) {
    const { requests, findMistakes } = contractQuestions(network, view);
    for (const mistake of findMistakes(await ask(requests))) problems.add(mistake);
  }
  const [newest] = await ask([{ method: ofView('solid', 'getblock'), params: [{ detail: false }] }]);
  const final = readHeader(readResult(newest))?.height;
  if (final === undefined) throw unusable('there is no solid block');
  const heights = Array.from({ length: Number(RECENT) }, (_, i) => final - BigInt(i)).filter(
    (one) => one > 0n,
  );
  const blocks = await ask(heights.map((height) => blockRequest('solid', height, true)));
  const ids = blocks.flatMap((block) => readIds(readResult(block)));
  const [id] = ids;
  // On a quiet chain there is nothing to ask for.
  if (id === undefined) return [...problems];
  const [info] = await ask([{ method: ofView('solid', 'gettransactioninfobyid'), params: [{ value: id }] }]);
  if (info instanceof NodeError || isNothing(info))
    problems.add('keeps no history of transactions (storage.transHistory.switch)');
  return [...problems];
}
