import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { ApprovalInput, ApprovalSubject } from './types.ts';

const VALID_SECONDS = 86_400;

/** Who signs, and with what. */
export interface ApprovalKey {
  /** The name under which the approver is registered. */
  approver: string;
  /** The Ed25519 key that `florin approvers new-key` made: PEM, or opened. */
  privateKey: string | KeyObject;
  /** How long the signature is good. Default one day. */
  validForSeconds?: number;
}

/**
 * Signs a payout batch or refund of real money as one of its approvers, for a server that approves its own payouts. Compare
 * the subject with what you ordered before you sign it: whoever can change Florin's database can change the subject.
 *
 * @example
 * ```ts
 * const subject = await florin.payouts.statement(batch.batch_id);
 * const isOurs = subject.items.every(
 *   ({ to, amount }, i) => to === wages[i]?.address && BigInt(amount) === wages[i].units,
 * );
 * if (!isOurs || subject.items.length !== wages.length) throw new Error('this is not what we ordered');
 * const approval = signApproval(subject, { approver: 'payroll', privateKey: readFileSync('payroll.pem', 'utf8') });
 * await florin.payouts.approve(batch.batch_id, approval);
 * ```
 */
export function signApproval(subject: ApprovalSubject, key: ApprovalKey): ApprovalInput {
  const { approver, privateKey, validForSeconds = VALID_SECONDS } = key;
  const validUntil = Math.floor(Date.now() / 1000) + validForSeconds;
  const opened = typeof privateKey === 'string' ? createPrivateKey(privateKey) : privateKey;
  if (opened.asymmetricKeyType !== 'ed25519') throw new TypeError('An approver signs with a key of Ed25519.');
  const signature = sign(null, Buffer.from(approvalText(subject, validUntil)), opened);
  return { approver, valid_until: validUntil, signature: `0x${signature.toString('hex')}` };
}

/** The case of hex is a checksum and changes nothing; base58 begins with no 0, and another case is another address. */
const signedAddress = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address);

/**
 * The text whose UTF-8 bytes an approver signs, for keys kept elsewhere. `validUntil` in Unix seconds.
 *
 * @example
 * ```ts
 * const text = approvalText(await florin.payouts.statement(batchId), validUntil);
 * ```
 */
export function approvalText(subject: ApprovalSubject, validUntil: number): string {
  const { kind, merchant, id, network, asset, items } = subject;
  const digest = createHash('sha256');
  for (const { place, to, amount, memo } of items.toSorted((a, b) => a.place - b.place))
    digest.update(`${JSON.stringify([place, network, asset, signedAddress(to), amount, memo])}\n`);
  const lines = [
    'Florin approval 1',
    'mode live',
    `kind ${kind}`,
    `merchant ${merchant}`,
    `id ${id}`,
    `network ${network}`,
    `asset ${asset}`,
    `count ${items.length}`,
    `total ${items.reduce((sum, { amount }) => sum + BigInt(amount), 0n)}`,
    `items 0x${digest.digest('hex')}`,
    'decision approve',
    `valid_until ${validUntil}`,
  ];
  return `${lines.join('\n')}\n`;
}
