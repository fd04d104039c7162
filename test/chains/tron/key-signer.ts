import { TronAccounts } from '../../../packages/signer/src/tron/accounts.ts';
import {
  decodeTronTransaction,
  encodeSignedTron,
  encodeTronTransaction,
  signTronTransaction,
  tronTransactionId,
} from '../../../packages/signer/src/tron/transaction.ts';
import { type Asked, AttemptSigner } from '../attempt-signer.ts';
import { TEST_SEED } from '../test-seed.ts';

export const KEYS = new TronAccounts(TEST_SEED);

/** Signs with keys of Tron. Nothing is replaced here: an attempt has one transaction. */
export class TronKeySigner extends AttemptSigner<'trc20'> {
  /** In sun. */
  topUps: { gasTopUp: bigint; gasTopUpsLeft: bigint } | undefined;
  /** Whose charges it signs; undefined: it does not say. */
  collector: string | null | undefined;

  /** Without times, reference block and fee limit, which follow the chain. */
  protected contentsOf({ unsigned }: Asked): string {
    const { contract } = decodeTronTransaction(fromHex(unsigned));
    const dated = {
      refBlockBytes: new Uint8Array(2),
      refBlockHash: new Uint8Array(8),
      expiration: 1n,
      timestamp: 1n,
    };
    return toHex(encodeTronTransaction({ ...dated, contract, feeLimit: 0n }));
  }

  async tronLimits() {
    const { topUps = { gasTopUp: 10n ** 12n, gasTopUpsLeft: 10n ** 12n }, collector = null } = this;
    return this.topUps === undefined && this.collector === undefined ? undefined : { collector, ...topUps };
  }

  protected isReplacement(): boolean {
    return false;
  }

  protected async signRaw(account: number, { unsigned, purpose }: Asked) {
    const rawData = fromHex(unsigned);
    const swept = purpose.kind === 'sweep' ? purpose.deposits[0] : undefined;
    const key = swept === undefined ? KEYS.hot(account) : KEYS.deposit(account, swept.index);
    const signed = signTronTransaction(rawData, key.privateKey);
    return {
      raw: toHex(encodeSignedTron(signed)),
      txId: Buffer.from(tronTransactionId(rawData)).toString('hex'),
    };
  }
}

const fromHex = (text: string) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'));
const toHex = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString('hex')}`;
