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
  auditBlocks: integerSetting({
    name: 'custody.audit_blocks',
    description:
      'How many of the newest final blocks are read again, to find missed transfers and deep reorganisations.',
    fallback: 200,
    min: 1,
    max: 10_000,
  }),
};

/** What the gas tank of a network should hold, in its smallest units, and the setting that says so. */
export async function readTankMinimum(
  db: Db,
  network: Network,
): Promise<{ native: bigint; setting: string }> {
  const settings = await readSettings(db, { merchantId: NIL_ID, mode: 'live' }, CUSTODY_SETTINGS);
  const [key, minimum] =
    network === 'trc20'
      ? (['trxMinimum', settings.trxMinimum] as const)
      : (['tankMinimum', settings.tankMinimum] as const);
  const native = (minimum * NATIVE_COINS[network].units) / SETTING_UNITS;
  return { native, setting: CUSTODY_SETTINGS[key].name };
}
