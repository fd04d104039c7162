import type { Db } from '../../platform/db/index.ts';
import { Fail } from '../../platform/fail.ts';
import type { Caller } from '../../platform/http/index.ts';
import '../tables.ts';

// Four eyes know people: whoever created, edited or submitted a payment, by a key of theirs or signed in themselves, does
// not approve it. A key names its owner as an approver, and the people who were shown its secret in the console; a session
// names its user; `approver.user_id` says which two are one person.

/** Who drew a payment up. */
export interface Authors {
  /** Approvers whose keys did it. */
  owners: readonly string[];
  /** People of the console who did it, or hold a key that did. */
  authors: readonly string[];
}

/** Adds whoever may have sent a request to the authors. A key of nobody's adds nobody. */
export function withAuthor(
  { owners, authors }: Authors,
  { ownerId, people }: Pick<Caller, 'ownerId' | 'people'>,
): { owners: string[]; authors: string[] } {
  const both = (known: readonly string[], others: readonly string[]) => [...new Set([...known, ...others])];
  return { owners: both(owners, ownerId === null ? [] : [ownerId]), authors: both(authors, people) };
}

/** An approver, with the person of the console who they are, if that is known. */
export interface ApproverPerson {
  approver_id: string;
  user_id: string | null;
}

/**
 * Whether an approver may decide on a payment. `unknown`: of whoever drew it up and whoever decides one is a person of the
 * console, and nobody knows whether the other is the same one.
 *
 * @param known the approvers whose keys drew it up, and the one who decides
 */
export function judgeDecider(
  { owners, authors }: Authors,
  deciderId: string,
  known: readonly ApproverPerson[],
): 'may' | 'author' | 'unknown' {
  if (owners.includes(deciderId)) return 'author';
  const personOf = (id: string) => known.find(({ approver_id }) => approver_id === id)?.user_id ?? null;
  const decider = personOf(deciderId);
  if (decider === null) return authors.length > 0 ? 'unknown' : 'may';
  const people = [...authors, ...owners.map(personOf)];
  if (people.includes(decider)) return 'author';
  return people.includes(null) ? 'unknown' : 'may';
}

/** @throws Fail `forbidden` unless the approver has no part in a payment. @param refusal what an author is told */
export async function checkIsNoAuthor(
  db: Db,
  merchantId: string,
  { deciderId, ...authors }: Authors & { deciderId: string },
  refusal: string,
): Promise<void> {
  const known = await db
    .selectFrom('approver')
    .select(['approver_id', 'user_id'])
    .where('merchant_id', '=', merchantId)
    .where('approver_id', 'in', [deciderId, ...authors.owners])
    .execute();
  const verdict = judgeDecider(authors, deciderId, known);
  if (verdict === 'author') throw new Fail('forbidden', refusal);
  if (verdict === 'unknown')
    throw new Fail(
      'forbidden',
      'It is not known whether this approver had a part in this: florin approvers link says who is who.',
    );
}
