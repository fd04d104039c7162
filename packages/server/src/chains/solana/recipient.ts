import { TOKEN_PROGRAM } from '@florin/signer/solana';
import { ChainUnavailable } from '../port/port-errors.ts';
import type { SolanaNode } from './node.ts';
import { orUnavailable, readContext, readRecord } from './node-answers.ts';

const SYSTEM_PROGRAM = '1'.repeat(32);
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const MINT_BYTES = 82;

/**
 * What lies at an address on the chain, where coins sent to it would be lost or its owner is a program. A text that names a
 * wallet may be any of these: nothing in 32 bytes tells.
 *
 * @returns undefined: a wallet, an address that nobody has used, or nothing is known, as no node answers
 */
export async function checkAccount(
  node: SolanaNode,
  address: string,
): Promise<'token_account' | 'token_contract' | 'program' | 'program_owned' | undefined> {
  try {
    const config = { encoding: 'base64', dataSlice: { offset: 0, length: 0 }, commitment: 'confirmed' };
    const answer = await orUnavailable(node.call('getAccountInfo', [address, config]));
    const { value } = readContext(answer, 'getAccountInfo');
    if (value === null) return undefined;
    const { owner, executable, space } = readRecord(value, `the account ${address}`);
    if (executable === true) return 'program';
    if (owner === TOKEN_PROGRAM || owner === TOKEN_2022)
      return space === MINT_BYTES ? 'token_contract' : 'token_account';
    return owner === SYSTEM_PROGRAM ? undefined : 'program_owned';
  } catch (error) {
    // A warning less is no error: the address was checked without a node.
    if (error instanceof ChainUnavailable) return undefined;
    throw error;
  }
}
