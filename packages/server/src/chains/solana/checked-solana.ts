import { ASSETS } from '@florin/contract/money';
import { TOKEN_PROGRAM } from '@florin/signer/solana';
import type { Logger } from '../../platform/observability/index.ts';
import { createJsonPoster } from '../../platform/outbound/index.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { RpcEndpoint } from '../rpc/endpoint.ts';
import { EndpointFailed, JSON_RPC } from '../rpc/messages.ts';
import { CheckedRpc, NetworkCheck } from '../rpc/network-check.ts';
import type { NodeRequest } from '../rpc/node.ts';
import type { EndpointReport } from '../rpc/report.ts';
import { identityOf } from './endpoints.ts';
import type { SolanaNetwork } from './network.ts';
import type { Commitment, Epoch, NamedBlockhash, SolanaNode } from './node.ts';
import { readBase64, readContext, readList, readRecord, readResult } from './node-answers.ts';

const DECIMALS = 6;
const DECIMALS_AT = 44;
const INITIALISED_AT = 45;
const MINT_BYTES = 82;

/** The mints of the networks file, and what the answer shows of them. */
function mintQuestion({ tokens }: SolanaNetwork) {
  const named = ASSETS.flatMap((asset) => {
    const mint = tokens[asset]?.mint;
    return mint === undefined ? [] : [{ field: `tokens.${asset}`, mint }];
  });
  const config = { encoding: 'base64', commitment: 'finalized' };
  const request: NodeRequest = {
    method: 'getMultipleAccounts',
    params: [named.map(({ mint }) => mint), config],
  };
  const findMistakes = (answer: unknown): string[] => {
    const found = readList(readContext(answer, 'getMultipleAccounts').value, 'getMultipleAccounts');
    return named.flatMap(({ field, mint }, place) => {
      const fault = mintFault(found[place]);
      return fault === undefined ? [] : [`${field} ${mint} ${fault}`];
    });
  };
  return { request, findMistakes };
}

function mintFault(account: unknown): string | undefined {
  if (account == null) return 'is not on this chain';
  const { owner, data } = readRecord(account, 'a mint');
  const bytes = readBase64(data, 'a mint');
  // Mints of the newer program may take fees of a transfer, or a hook that refuses it.
  if (owner !== TOKEN_PROGRAM || bytes.length !== MINT_BYTES || bytes[INITIALISED_AT] !== 1)
    return 'is no mint of the token program';
  return bytes[DECIMALS_AT] === DECIMALS ? undefined : `does not have ${DECIMALS} decimals`;
}

/** A node that answers once tokens were found as configured, and compares them each hour. */
export class CheckedSolana extends CheckedRpc<SolanaNode> implements SolanaNode {
  constructor(node: SolanaNode, network: SolanaNetwork, log: Logger) {
    const { request, findMistakes } = mintQuestion(network);
    const check = new NetworkCheck({ network: 'spl', name: network.name, log }, async () => {
      const [answer] = await node.agreedMany([request]);
      return findMistakes(readResult(answer))[0];
    });
    super(node, check);
  }

  async newest(commitment: Commitment): Promise<Epoch> {
    return await (await this.checked()).newest(commitment);
  }

  async newestBlockhash(): Promise<NamedBlockhash> {
    return await (await this.checked()).newestBlockhash();
  }
}

/** Asks each endpoint for itself. Never throws: an endpoint that is away is a problem of it. */
export async function checkSolanaEndpoints(
  network: SolanaNetwork,
  { log, ca, timeoutMs }: { log: Logger; ca?: string | undefined; timeoutMs?: number | undefined },
): Promise<EndpointReport[]> {
  const poster = createJsonPoster({ ca, timeoutMs });
  const { request, findMistakes } = mintQuestion(network);
  const identity = identityOf(network.genesisHash);
  try {
    return await Promise.all(
      network.endpoints.map(async (one): Promise<EndpointReport> => {
        const endpoint = new RpcEndpoint(one, {
          poster,
          log,
          name: network.name,
          identity,
          wire: JSON_RPC,
          restMs: 0,
        });
        const problems: string[] = [];
        try {
          const [answer] = await endpoint.send([request]);
          if (answer === undefined || !('result' in answer))
            problems.push('does not tell what lies at the mints');
          else problems.push(...findMistakes(answer.result));
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
