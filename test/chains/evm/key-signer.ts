import type { Purpose } from '@florin/signer/protocol';
import { type Hex, keccak256, parseTransaction } from 'viem';
import { type HDAccount, mnemonicToAccount } from 'viem/accounts';
import type { TransactionSigner } from '../../../packages/server/src/chains/evm/signing.ts';
import { delegateDeployment, sweeperDeployment } from '../../../packages/signer/src/contracts.ts';
import { PUBLIC_TEST_MNEMONIC } from '../../../scripts/anvil.ts';
import { type Asked, AttemptSigner } from '../attempt-signer.ts';

export const hotWallet = (account: number): HDAccount => wallet(`m/44'/60'/${account}'/1/0`);
/** The gas tank of the installation. */
export const TANK = hotWallet(0);
export const ownerWallet = (account: number): HDAccount => wallet(`m/44'/60'/${account}'/2/0`);
export const depositWallet = (account: number, index: number): HDAccount =>
  wallet(`m/44'/60'/${account}'/0/${index}`);

function wallet(path: `m/44'/60'/${string}`): HDAccount {
  return mnemonicToAccount(PUBLIC_TEST_MNEMONIC, { path });
}

/** Signs with keys of Ethereum: a new version where both fees are a tenth higher. */
export class KeySigner extends AttemptSigner<'erc20'> implements TransactionSigner {
  protected contentsOf({ unsigned }: Asked): string {
    const { nonce, to, value, data } = parseTransaction(unsigned);
    return [nonce, to, value, data].join();
  }

  protected isReplacement(earlier: Asked, asked: Asked): boolean {
    const [a, b] = [parseTransaction(earlier.unsigned), parseTransaction(asked.unsigned)];
    return (['maxFeePerGas', 'maxPriorityFeePerGas'] as const).every(
      (fee) => (b[fee] ?? 0n) * 10n >= (a[fee] ?? 0n) * 11n,
    );
  }

  protected async signRaw(account: number, asked: Asked) {
    const raw = await signRaw(account, asked);
    return { raw, txId: keccak256(raw) };
  }
}

async function signRaw(account: number, { unsigned, purpose }: Asked): Promise<Hex> {
  const key = hotWallet(account);
  const parsed = parseTransaction(unsigned);
  if (parsed.type === 'eip7702') {
    const authorizationList = await authorizations(parsed.chainId, purpose);
    return await key.signTransaction({ ...parsed, authorizationList });
  }
  if (parsed.type === 'eip1559') return await key.signTransaction(parsed);
  throw new Error(`a transaction of type ${parsed.type}`);
}

async function authorizations(chainId: number, purpose: Purpose) {
  if (purpose.kind !== 'sweep') throw new Error('a sweep alone delegates');
  const { account, delegates } = purpose;
  const sweeper = sweeperDeployment(TANK.address).address;
  const { address } = delegateDeployment(hotWallet(account).address, sweeper);
  return await Promise.all(
    delegates.map(({ index, nonce }) => {
      const { signAuthorization } = depositWallet(account, index);
      if (signAuthorization === undefined) throw new Error('a local key signs authorizations');
      return signAuthorization({ address, chainId, nonce: Number(nonce) });
    }),
  );
}
