import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ApproverPerson, type Authors, judgeDecider, withAuthor } from './authors.ts';

const approvers = ['a1', 'a2', 'a3', 'a4'];
const users = ['u1', 'u2', 'u3'];
const authorsOf = fc.record({
  owners: fc.uniqueArray(fc.constantFrom(...approvers)),
  authors: fc.uniqueArray(fc.constantFrom(...users)),
});
/** One person is one approver at most. */
const linked: fc.Arbitrary<ApproverPerson[]> = fc
  .shuffledSubarray([...users, null, null, null], {
    minLength: approvers.length,
    maxLength: approvers.length,
  })
  .map((people) => approvers.map((approver_id, i) => ({ approver_id, user_id: people[i] ?? null })));

/** Of an approver and an author one is a person of the console, and the other may be. */
function mayBeOneOf(
  { owners, authors }: Authors,
  decider: string,
  known: readonly ApproverPerson[],
): boolean {
  const isLinked = (id: string) => known.some((one) => one.approver_id === id && one.user_id !== null);
  return isLinked(decider) ? owners.some((id) => !isLinked(id)) : authors.length > 0;
}

test('nobody decides on what they drew up by whichever way, and who is surely somebody else may', () => {
  fc.assert(
    fc.property(authorsOf, linked, fc.constantFrom(...approvers), (authors, known, decider) => {
      const personOf = (id: string) => known.find((one) => one.approver_id === id)?.user_id ?? id;
      const people = new Set([...authors.authors, ...authors.owners.map(personOf)]);
      const verdict = judgeDecider(authors, decider, known);
      if (people.has(personOf(decider)) || authors.owners.includes(decider)) expect(verdict).toBe('author');
      else if (mayBeOneOf(authors, decider, known)) expect(verdict).toBe('unknown');
      else expect(verdict).toBe('may');
    }),
  );
});

test('whoever has a part in it is named once, a key by its owner and a session by its user', () => {
  const none = { owners: [], authors: [] };
  const key = (ownerId: string | null, people: string[] = []) => ({ ownerId, people });
  const user = { ownerId: null, people: ['u1'] };
  expect(withAuthor(none, key(null))).toEqual(none);
  const both = withAuthor(withAuthor(none, key('a1')), user);
  expect(both).toEqual({ owners: ['a1'], authors: ['u1'] });
  expect(withAuthor(withAuthor(both, user), key('a1'))).toEqual(both);
  const held = withAuthor(both, key(null, ['u1', 'u2']));
  expect(held).toEqual({ owners: ['a1'], authors: ['u1', 'u2'] });
});
