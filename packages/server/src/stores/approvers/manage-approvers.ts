import { timingSafeEqual } from 'node:crypto';
import { NIL_ID, newId } from '../../platform/db/ids/index.ts';
import { codeOf, type Db, type Tx, transact } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import { checkPlainText } from '../../platform/http/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { checkName } from '../create-merchant.ts';
import { digestOf, makeApproverToken } from '../keys/credentials.ts';
import { nameSkeleton } from '../name-skeleton.ts';
import { type Approver, findApproverByName, getMerchant, lockApprovers } from '../queries.ts';
import { isKeyTaken, refuseKey } from './approver-keys.ts';

const UNIQUE_VIOLATION = '23505';

/** Approvers of the installation have the nil id for a merchant: their votes decide what concerns every merchant. */
const isOfInstallation = (merchantId: string) => merchantId === NIL_ID;

const clockOffsetOf = async (db: Db, merchantId: string) =>
  isOfInstallation(merchantId) ? 0 : (await getMerchant(db, merchantId)).clockOffset;

/**
 * Registers a person who may approve what a merchant, or with the nil id the installation, needs people for. A name that was registered before is the same person again, with
 * the same id, so that earlier approvals and owned keys still count as theirs.
 *
 * @param publicKey by which their signatures are known
 * @returns the token, shown once; only its digest is kept
 */
export async function addApprover(
  platform: Platform,
  merchantId: string,
  typed: string,
  publicKey: string | null = null,
): Promise<string> {
  const clockOffset = await clockOffsetOf(platform.db, merchantId);
  checkPlainText(typed, 'name');
  const name = checkName(typed, 'name');
  const token = makeApproverToken();
  const createdAt = platform.clock.nowSeconds() + clockOffset;
  try {
    await transact(platform.db, (tx) => register(tx, { merchantId, name, token, publicKey, createdAt }));
  } catch (error) {
    if (isKeyTaken(error)) throw refuseKey();
    // A concurrent registration won.
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    throw refuseName(`${name} is an approver already, or looks like the name of one.`);
  }
  return token;
}

const refuseName = (message: string) => new Fail('invalid_request', { message, param: 'name' });

interface Registration {
  merchantId: string;
  name: string;
  token: string;
  publicKey: string | null;
  createdAt: number;
}

async function register(
  tx: Tx,
  { merchantId, name, token, publicKey, createdAt }: Registration,
): Promise<void> {
  const known = await lockApprovers(tx, merchantId);
  const same = known.find((one) => one.name === name);
  if (same?.removed_at === null) throw refuseName(`${name} is an approver already.`);
  checkNotConfusable(name, known, same);
  const token_digest = digestOf(token);
  if (same === undefined) {
    const row = { merchant_id: merchantId, approver_id: newId(), name, skeleton: nameSkeleton(name) };
    await tx
      .insertInto('approver')
      .values({ ...row, token_digest, public_key: publicKey, removed_at: null, created_at: createdAt })
      .execute();
    return;
  }
  await tx
    .updateTable('approver')
    // Without a key of now none counts: the one of before may be in other hands.
    .set({ token_digest, public_key: publicKey, removed_at: null })
    .where('merchant_id', '=', merchantId)
    .where('approver_id', '=', same.approver_id)
    .execute();
}

/**
 * Refuses a name that looks like another approver's, as a reader would take the two for one person. Rows from before this
 * check have no skeleton, so all names are compared here; the unique index catches concurrent registrations.
 */
function checkNotConfusable(name: string, known: readonly Approver[], same: Approver | undefined): void {
  const skeleton = nameSkeleton(name);
  const alike = known.find(
    (one) =>
      one !== same &&
      nameSkeleton(one.name) === skeleton &&
      // An approver who returns was accepted before: only names of present approvers conflict.
      (same === undefined || one.removed_at === null),
  );
  if (alike === undefined) return;
  const is = alike.removed_at === null ? 'is' : 'was';
  throw refuseName(`${name} looks like ${alike.name}, who ${is} an approver. Choose another name.`);
}

/**
 * Says which person of the console an approver is, so that neither approves what the other drew up.
 *
 * @throws Fail `resource_not_found`; `conflict` where that person is another approver, present or removed
 */
export async function linkApprover(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  merchantId: string,
  { name, userId }: { name: string; userId: string },
): Promise<void> {
  const approver = await findApproverByName(db, merchantId, name);
  if (approver === undefined) throw new Fail('resource_not_found', `There is no approver ${name}.`);
  try {
    await transact(db, async (tx) => {
      await lockApprovers(tx, merchantId);
      // Whoever decided in the console before is one approver from now on; votes on what is open are cast again.
      await tx
        .updateTable('approver')
        .set({ user_id: null, from_console: false, removed_at: clock.nowSeconds() })
        .where('merchant_id', '=', merchantId)
        .where('user_id', '=', userId)
        .where('from_console', '=', true)
        .where('approver_id', '<>', approver.approver_id)
        .execute();
      await tx
        .updateTable('approver')
        .set({ user_id: userId })
        .where('merchant_id', '=', merchantId)
        .where('approver_id', '=', approver.approver_id)
        .execute();
    });
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    throw new Fail('conflict', 'That person is, or was, another approver of this merchant.');
  }
}

/** Removes an approver. The row stays, as approvals refer to it and the name remains this person's. */
export async function removeApprover(platform: Platform, merchantId: string, name: string): Promise<void> {
  const approver = await findApproverByName(platform.db, merchantId, name);
  if (approver === undefined) throw new Fail('resource_not_found', `There is no approver ${name}.`);
  await platform.db
    .updateTable('approver')
    .set({ removed_at: platform.clock.nowSeconds(), from_console: false })
    .where('merchant_id', '=', merchantId)
    .where('approver_id', '=', approver.approver_id)
    .execute();
}

/** Lists approvers, each with the others whose names look alike: names from before the check may. */
export async function listApprovers(platform: Platform, merchantId: string) {
  const rows = await platform.db
    .selectFrom('approver')
    .select(['approver_id', 'name', 'public_key', 'user_id', 'created_at'])
    .where('merchant_id', '=', merchantId)
    .where('removed_at', 'is', null)
    .orderBy('name')
    .execute();
  const alike = Map.groupBy(rows, ({ name }) => nameSkeleton(name));
  return rows.map((row) => {
    const other = alike.get(nameSkeleton(row.name))?.find(({ name }) => name !== row.name);
    return { ...row, looks_like: other?.name ?? null };
  });
}

/** Identifies an approver by name and token. @throws Fail `forbidden`, with one message whichever is wrong */
export async function identifyApprover(
  platform: Platform,
  merchantId: string,
  credentials: { name: string; token: string },
): Promise<{ approverId: string; name: string }> {
  const approver = await findApproverByName(platform.db, merchantId, credentials.name);
  const given = digestOf(credentials.token);
  const right = timingSafeEqual(given, approver?.token_digest ?? digestOf(''));
  if (approver !== undefined && right) return { approverId: approver.approver_id, name: approver.name };
  throw new Fail(
    'forbidden',
    isOfInstallation(merchantId)
      ? 'The name and the token do not belong to an approver of the installation (florin approvers add NAME --operator). ' +
          'Approvers of a merchant do not decide this.'
      : 'The name and the token do not belong to a registered approver of this merchant.',
  );
}
