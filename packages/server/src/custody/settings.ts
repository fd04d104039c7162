import type { Network } from '@florin/contract/money';
import { NATIVE_COINS } from '../chains/port/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import type { Db } from '../platform/db/index.ts';
import { integerSetting, moneySetting, readSettings } from '../tenancy/settings/index.ts';

/** Settings have six decimals of the network's own coin. */
const SETTING_UNITS = 1_000_000n;

export const CUSTODY_SETTINGS = {
  sweepMinimum: moneySetting({
    name: 'custody.sweep_minimum',
    description:
      'What a deposit address must hold of a token to be swept into the hot wallet; less stays there until payments need it.',
    fallback: { sandbox: '0.00', live: '5.00' },
  }),
  tankMinimum: moneySetting({
    name: 'custody.tank_minimum',
    description:
      'What the gas tank should hold on Ethereum and Solana: below it an alarm says so. In whole coins of the network, such as 0.05.',
    fallback: '0.05',
  }),
  trxMinimum: moneySetting({
    name: 'custody.trx_minimum',
    description:
      'What the wallet that gives the others TRX should hold: below it an alarm says so. In whole TRX; a sweep takes some 8, a payment up to 16.',
    fallback: '200.00',
  }),
  trxStakeMinimum: moneySetting({
    name: 'custody.trx_stake_minimum',
    description:
      'What the wallet that lends others energy should have staked for it, lent or not: below it an alarm says so. In whole TRX; 0: none.',
    fallback: '0.00',
  }),
  auditBlocks: integerSetting({
    name: 'custody.audit_blocks',
    description:
      'How many of the newest final blocks are read again, to find missed transfers and deep reorganisations.',
    fallback: 200,
    min: 1,
    max: 10_000,
  }),
};

/** In the smallest units of the network's own coin, and the setting that says so. */
interface Minimum {
  native: bigint;
  setting: string;
}

/** What a gas tank has staked, in sun: what it can lend and what is lent. */
export const stakedBy = (stake: { free: bigint; lent: bigint } | undefined): bigint =>
  stake === undefined ? 0n : stake.free + stake.lent;

/** What the gas tank of a network should hold and, where it lends stake, have staked. */
export async function readTankMinimum(
  db: Db,
  network: Network,
): Promise<Minimum & { stake: Minimum | undefined }> {
  const settings = await readSettings(db, { merchantId: NIL_ID, mode: 'live' }, CUSTODY_SETTINGS);
  const minimumOf = (key: 'trxMinimum' | 'tankMinimum' | 'trxStakeMinimum'): Minimum => ({
    native: (settings[key] * NATIVE_COINS[network].units) / SETTING_UNITS,
    setting: CUSTODY_SETTINGS[key].name,
  });
  if (network !== 'trc20') return { ...minimumOf('tankMinimum'), stake: undefined };
  return { ...minimumOf('trxMinimum'), stake: minimumOf('trxStakeMinimum') };
}
