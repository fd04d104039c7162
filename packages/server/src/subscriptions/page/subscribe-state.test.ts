import { SUBSCRIPTION_STATUSES } from '@florin/contract/schemas';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SubscribeFacts, subscribeState } from './subscribe-state.ts';

const invoice = { isLive: false, hasFailed: false, page: 'open' } as const;
const incomplete: SubscribeFacts = { status: 'incomplete', hasMethod: false, invoice };

test('no page asks for money while some is on its way, and every page does where none is', () => {
  expect(subscribeState(incomplete)).toBe('choose');
  expect(subscribeState({ ...incomplete, invoice: { ...invoice, page: 'money' } })).toBe('confirming');
  expect(subscribeState({ ...incomplete, invoice: { ...invoice, page: 'paid' } })).toBe('confirming');
  expect(subscribeState({ ...incomplete, invoice: { ...invoice, page: 'frozen' } })).toBe('review');
  expect(subscribeState({ ...incomplete, hasMethod: true })).toBe('confirming');
  const failed = { ...invoice, hasFailed: true };
  expect(subscribeState({ ...incomplete, hasMethod: true, invoice: failed })).toBe('choose');
  expect(subscribeState({ ...incomplete, hasMethod: true, invoice: { ...failed, isLive: true } })).toBe(
    'confirming',
  );
});

test('a trial asks for a mandate and for nothing else', () => {
  expect(subscribeState({ ...incomplete, invoice: null })).toBe('choose');
  expect(subscribeState({ ...incomplete, invoice: null, hasMethod: true })).toBe('confirming');
  expect(subscribeState({ ...incomplete, status: 'trialing', invoice: null, hasMethod: true })).toBe('done');
});

test('an overdue payment is said to be overdue until money is on its way', () => {
  const overdue = { ...incomplete, status: 'past_due', hasMethod: true } as const;
  expect(subscribeState(overdue)).toBe('overdue');
  expect(subscribeState({ ...overdue, invoice: { ...invoice, isLive: true } })).toBe('confirming');
  expect(subscribeState({ ...overdue, invoice: { ...invoice, page: 'frozen' } })).toBe('review');
});

test('only a subscription that has not begun is chosen for', () => {
  const facts = fc.record({
    status: fc.constantFrom(...SUBSCRIPTION_STATUSES),
    hasMethod: fc.boolean(),
    invoice: fc.option(
      fc.record({
        isLive: fc.boolean(),
        hasFailed: fc.boolean(),
        page: fc.constantFrom('open', 'money', 'frozen', 'paid', 'expired', null),
      }),
    ),
  });
  fc.assert(
    fc.property(facts, (any) => {
      const state = subscribeState(any);
      const isUnpaid = state === 'choose' || state === 'confirming' || state === 'review';
      if (any.status === 'incomplete') expect(isUnpaid).toBe(true);
      else if (any.status === 'past_due') expect(state).not.toBe('choose');
      else expect(isUnpaid).toBe(false);
      if (any.invoice?.isLive) expect(state).not.toBe('choose');
    }),
  );
});
