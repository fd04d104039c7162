import {
  type Address,
  generateKeyPairSigner,
  getBase64Encoder,
  isSolanaError,
  type KeyPairSigner,
} from '@solana/kit';
import { getTokenDecoder } from '@solana-program/token';
import { afterEach, beforeEach } from 'vitest';
import { type SolanaNode, startSolanaNode } from './solana/node.ts';
import { solanaClient, tokenAddress, transfer } from './solana-client.ts';

export const SOL = 1_000_000_000n;

export let node: SolanaNode;
export let client: ReturnType<typeof solanaClient>;
export let usdt: Address;
export let payer: KeyPairSigner;

/** A node of its own for each test of the file, with a token and a payer who has some. */
export function useSolana(): void {
  beforeEach(async () => {
    node = await startSolanaNode();
    client = solanaClient(node.url);
    usdt = await node.controls.createToken('USDT');
    payer = await generateKeyPairSigner();
    node.controls.fund(payer.address, 10n * SOL);
    await node.controls.mint(usdt, payer.address, 1_000_000_000n);
  });
  afterEach(() => node.stop());
}

export async function stranger(): Promise<Address> {
  return (await generateKeyPairSigner()).address;
}

export async function pay(owner: Address, amount: bigint) {
  const signed = await client.sign(payer, await transfer(payer, usdt, owner, amount));
  await client.send(signed);
  return signed.signature;
}

export async function balance(
  owner: Address,
  commitment: 'processed' | 'confirmed' | 'finalized' = 'processed',
) {
  const account = await tokenAddress(owner, usdt);
  const { value } = await client.rpc
    .getMultipleAccounts([account], { encoding: 'base64', commitment })
    .send();
  const [data] = value[0]?.data ?? [];
  return data === undefined ? undefined : getTokenDecoder().decode(getBase64Encoder().encode(data)).amount;
}

export function produce(blocks: number): void {
  for (let made = 0; made < blocks; made += 1) node.chain.produce();
}

/** What the client makes of a refusal. */
export async function refusal(sent: Promise<unknown>) {
  const error: unknown = await sent.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isSolanaError(error)) throw new Error(`not refused by the node: ${String(error)}`);
  const { cause } = error;
  return {
    code: error.context.__code,
    message: error.message,
    cause: cause instanceof Error ? cause.message : '',
  };
}
