import { expect, test } from 'vitest';
import { type Place, Places } from './places.ts';

const IN_FLIGHT = 2_000;

/** Enters for `count` attempts of endpoints that never answer. @returns those that got a place */
async function hang(places: Places, count: number, failures = 0): Promise<Place[]> {
  const entered: Place[] = [];
  for (let i = 0; i < count; i++) {
    void places.enter({ endpointId: `dead ${i}`, failures }, false).then((place) => {
      entered.push(place);
      place.wait();
      place.hang();
    });
  }
  for (let last = -1; last !== entered.length; ) {
    last = entered.length;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return entered;
}

const prove = (places: Places, endpointId: string) => places.ended(endpointId, true);

test('E5: however many endpoints hang, one that answers finds a place at once', async () => {
  const places = new Places();
  prove(places, 'healthy');
  expect((await hang(places, 5 * IN_FLIGHT)).length).toBe(0.75 * IN_FLIGHT);
  const place = await places.enter({ endpointId: 'healthy', failures: 0 }, false);
  place.answered();
  place.leave();
});

test('endpoints that fail share half of the places, and the rest is for others', async () => {
  const places = new Places();
  const failing = await hang(places, 2 * IN_FLIGHT, 5);
  expect(failing.length).toBe(IN_FLIGHT / 2);
  (await places.enter({ endpointId: 'stranger', failures: 0 }, false)).leave();
  for (const place of failing) place.leave();
});

test('those that stood well and hang all at once leave room for others, and are as good as before once they answer', async () => {
  const places = new Places();
  for (let i = 0; i < IN_FLIGHT; i++) prove(places, `dead ${i}`);
  // Their first attempts are anybody's; the second ones of each are not.
  const first = await hang(places, IN_FLIGHT / 2);
  expect(first).toHaveLength(IN_FLIGHT / 2);
  const second = await hang(places, IN_FLIGHT / 2);
  expect(second).toHaveLength(IN_FLIGHT / 4);
  prove(places, 'healthy');
  (await places.enter({ endpointId: 'healthy', failures: 0 }, false)).leave();
  for (const place of [...first, ...second]) {
    place.answered();
    place.leave();
  }
  expect(await hang(places, IN_FLIGHT / 2)).toHaveLength(IN_FLIGHT / 2);
});
