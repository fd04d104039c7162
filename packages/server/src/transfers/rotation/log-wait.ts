import { isLineDue } from '../../platform/observability/index.ts';
import type { TransferDeps } from '../send-context.ts';
import type { RotationWait } from './decide.ts';
import type { RotationRow } from './queries.ts';

const WAITS: Partial<Record<RotationWait, string>> = {
  tank_low:
    'the gas tank is low, a rotated wallet keeps its coins until it is filled (florin treasury status)',
  gas_ceiling:
    'rotated wallets need more ether in all than transfers.gas_ceiling or gas_top_up of the policy allow, or the signer does not answer',
  top_ups_used:
    "gas_top_ups_per_day of the signer's policy is used up, or ordered: a rotated wallet keeps its coins until the day's top-ups are less",
  held: 'the signer has refused what a rotation asked for: it is asked again within the hour',
  taken:
    'the ether of a rotated wallet was taken, by whoever has its key: what it has signed cannot be paid, and everything else goes on',
  stuck:
    'no block takes what a rotated wallet has signed, for an hour by now: fees have risen, or somebody uses its key; everything else goes on',
  refused:
    'a token does not leave a rotated wallet: it is paused, its issuer has blocked a wallet, or its moves revert',
  owner: 'the collector still names a rotated wallet: run florin signer rotate once more',
};

/** Tells people what a rotation waits for, once a minute; nothing of what passes by itself. */
export function logRotationWait(
  { log }: Pick<TransferDeps, 'log'>,
  rotation: Pick<RotationRow, 'merchant_id' | 'rotation_id' | 'network'>,
  reason: RotationWait,
): void {
  const message = WAITS[reason];
  if (message === undefined || !isLineDue(log, `rotation ${rotation.rotation_id} ${reason}`)) return;
  log.error({ merchantId: rotation.merchant_id, network: rotation.network, waiting: reason }, message);
}

/** A rotation that nothing ends: until it is over the next one cannot begin. */
export function logLongRotation(
  { log }: Pick<TransferDeps, 'log'>,
  rotation: Pick<RotationRow, 'merchant_id' | 'rotation_id' | 'network'>,
  reason: RotationWait,
): void {
  if (!isLineDue(log, `rotation ${rotation.rotation_id} is long`)) return;
  const fields = { merchantId: rotation.merchant_id, network: rotation.network, waiting: reason };
  log.error(fields, 'a rotation is not over three days after its switch: the next one waits for it');
}
