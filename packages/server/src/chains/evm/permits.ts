import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, hashDomain } from 'viem';
import { walletJson } from '../collector/wallet-json.ts';
import type { Mandate, MandateRequest, MandateSetup, PermitState, SignedPermit } from '../port/port.ts';
import { NodeError, type NodeRequest } from '../rpc/node.ts';
import { toAddress, tokenOf } from './build-transfer.ts';
import { isRevert } from './collector-errors.ts';
import { PERMIT_TYPES, TOKEN_ABI } from './contracts.ts';
import { collectorOf } from './mandates.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { readBytes, readQuantity, readRecord, unusable } from './node-answers.ts';
import { permitWords } from './permit-words.ts';

// Approvals by signature (EIP-2612). USDC has them and USDT has not: the token is asked, so that no table names it.

interface Reading {
  network: EvmNetwork;
  node: EvmNode;
}

/** Less than this is not enough to send it: a transaction may wait for its block. */
const SENT_WITHIN_SECONDS = 600n;

/**
 * Replaces the step `approve` by `permit`, where the token takes a signed approval. The step stays `approve` for wallets
 * that are contracts, as tokens do not verify their signatures, and where the allowance is large enough already.
 *
 * @throws ChainUnavailable
 */
export async function withPermit(
  reading: Reading,
  setup: MandateSetup,
  { permitUntil }: Pick<MandateRequest, 'permitUntil'>,
): Promise<MandateSetup> {
  const [approve, ...rest] = setup.steps;
  if (permitUntil === undefined || approve?.kind !== 'approve') return setup;
  const { network } = reading;
  const owner = toAddress(setup.mandate.payer);
  const spender = toAddress(setup.spender);
  const token = tokenOf(network, approve.asset);
  const known = await readToken(reading.node, { network, token, owner, spender });
  if (known === undefined || known.allowance >= approve.amount) return setup;
  const { nonce, domain } = known;
  const message = { owner, spender, value: approve.amount, nonce, deadline: permitUntil };
  const typedData = walletJson({ domain, types: PERMIT_TYPES, primaryType: 'Permit', message });
  return {
    ...setup,
    steps: [{ ...approve, kind: 'permit', nonce, deadline: permitUntil, typedData }, ...rest],
  };
}

interface TokenOfPayer {
  network: EvmNetwork;
  token: Address;
  owner: Address;
  spender: Address;
}

/** By the word of one endpoint: a wrong one gives a signature that the token refuses. @returns undefined without permits */
async function readToken(node: EvmNode, { network, token, owner, spender }: TokenOfPayer) {
  const call = (data: Hex): NodeRequest => ({ method: 'eth_call', params: [{ to: token, data }, 'latest'] });
  const read = (functionName: 'name' | 'version' | 'DOMAIN_SEPARATOR') =>
    call(encodeFunctionData({ abi: TOKEN_ABI, functionName }));
  const answers = await node.callMany([
    { method: 'eth_getCode', params: [owner, 'latest'] },
    call(noncesOf(owner)),
    call(encodeFunctionData({ abi: TOKEN_ABI, functionName: 'allowance', args: [owner, spender] })),
    ...(['name', 'version', 'DOMAIN_SEPARATOR'] as const).map(read),
  ]);
  const [code, ...ofToken] = answers;
  if (code !== '0x' || ofToken.some((answer) => answer instanceof NodeError || answer === '0x'))
    return undefined;
  const [nonce, allowance, name, version, separator] = ofToken;
  const domain = domainOf([name, version], { network, token });
  if (domain === undefined || separator !== hashOf(domain)) return undefined;
  return {
    nonce: readQuantity(nonce, 'nonces'),
    allowance: readQuantity(allowance, 'allowance'),
    domain,
  };
}

const noncesOf = (owner: Address) =>
  encodeFunctionData({ abi: TOKEN_ABI, functionName: 'nonces', args: [owner] });

function domainOf(
  [name, version]: readonly [unknown, unknown],
  { network, token }: Pick<TokenOfPayer, 'network' | 'token'>,
) {
  try {
    return {
      name: textOf('name', name),
      version: textOf('version', version),
      chainId: network.chainId,
      verifyingContract: token,
    };
  } catch {
    return undefined;
  }
}

const textOf = (functionName: 'name' | 'version', answer: unknown) =>
  decodeFunctionResult({ abi: TOKEN_ABI, functionName, data: readBytes(answer, functionName) });

const hashOf = (domain: NonNullable<ReturnType<typeof domainOf>>): Hex =>
  hashDomain({
    domain: { ...domain, chainId: BigInt(domain.chainId) },
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
    },
  });

/**
 * What the token says of a signed approval as of the newest block, by its own rules and the word of two endpoints: the same call is
 * tried that the collector will make.
 *
 * @throws ChainUnavailable
 */
export async function checkPermit(
  { network, node }: Reading,
  { mandate, permit }: { mandate: Mandate; permit: SignedPermit },
): Promise<PermitState> {
  const owner = toAddress(mandate.payer);
  const token = tokenOf(network, mandate.asset);
  const words = permitWords(permit);
  if (words === undefined) return 'refused';
  const { value, deadline, v, r, s } = words;
  const args = [owner, collectorOf(network), value, deadline, v, r, s] as const;
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'permit', args });
  const [answer, nonce] = await node.agreedMany([
    { method: 'eth_call', params: [{ to: token, data }, 'latest'] },
    { method: 'eth_call', params: [{ to: token, data: noncesOf(owner) }, 'latest'] },
  ]);
  const { timestamp } = readRecord(await node.newest('latest'), 'the newest block');
  // A token without permits has no such numbers.
  if (isRefused(nonce, 'nonces')) return 'refused';
  if (readQuantity(nonce, 'nonces') > permit.nonce) return 'spent';
  if (deadline < readQuantity(timestamp, 'timestamp') + SENT_WITHIN_SECONDS) return 'expired';
  return isRefused(answer, 'permit') ? 'refused' : 'open';
}

/** Whether the token itself refuses the call. @throws ChainUnavailable where the node could not try it */
function isRefused(answer: unknown, name: string): boolean {
  if (!(answer instanceof NodeError)) return false;
  if (isRevert(answer)) return true;
  throw unusable(`the token's ${name}: ${answer.message}`);
}
