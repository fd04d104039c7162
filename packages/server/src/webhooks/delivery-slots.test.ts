import { expect, test } from 'vitest';
import { type DeliverySlot, DeliverySlots } from './delivery-slots.ts';

const IN_FLIGHT = 2_000;

/** Requests slots for `count` attempts of endpoints that never answer. @returns the slots that were granted */
async function hang(slots: DeliverySlots, count: number, failures = 0): Promise<DeliverySlot[]> {
  const entered: DeliverySlot[] = [];
  for (let i = 0; i < count; i++) {
    void slots.acquire({ endpointId: `dead ${i}`, failures }, false).then((slot) => {
      entered.push(slot);
      slot.markIdle();
      slot.markHanging();
    });
  }
  for (let last = -1; last !== entered.length; ) {
    last = entered.length;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return entered;
}

const prove = (slots: DeliverySlots, endpointId: string) => slots.recordResult(endpointId, true);

test('E5: however many endpoints hang, one that answers gets a slot at once', async () => {
  const slots = new DeliverySlots();
  prove(slots, 'healthy');
  expect((await hang(slots, 5 * IN_FLIGHT)).length).toBe(0.75 * IN_FLIGHT);
  const slot = await slots.acquire({ endpointId: 'healthy', failures: 0 }, false);
  slot.markAnswered();
  slot.release();
});

test('failing endpoints get at most half of the slots, the others keep the rest', async () => {
  const slots = new DeliverySlots();
  const failing = await hang(slots, 2 * IN_FLIGHT, 5);
  expect(failing.length).toBe(IN_FLIGHT / 2);
  (await slots.acquire({ endpointId: 'unproven', failures: 0 }, false)).release();
  for (const slot of failing) slot.release();
});

test('proven endpoints that hang all at once leave slots for others, and are proven again once they answer', async () => {
  const slots = new DeliverySlots();
  for (let i = 0; i < IN_FLIGHT; i++) prove(slots, `dead ${i}`);
  // Their first attempts are limited by nothing but the total; once those hang, their second ones are.
  const first = await hang(slots, IN_FLIGHT / 2);
  expect(first).toHaveLength(IN_FLIGHT / 2);
  const second = await hang(slots, IN_FLIGHT / 2);
  expect(second).toHaveLength(IN_FLIGHT / 4);
  prove(slots, 'healthy');
  (await slots.acquire({ endpointId: 'healthy', failures: 0 }, false)).release();
  for (const slot of [...first, ...second]) {
    slot.markAnswered();
    slot.release();
  }
  expect(await hang(slots, IN_FLIGHT / 2)).toHaveLength(IN_FLIGHT / 2);
});
