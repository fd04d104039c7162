import { type Account, type Hex, parseEther } from 'viem';
import { expect } from 'vitest';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import type { Call } from '../chains/evm/faulty-node.ts';
import { freshAddress } from '../contracts/local-node.ts';
import { auditOnce, operatorsOf } from '../custody/audits.ts';
import { asOwner } from '../ledger.ts';
import { LiveStore, WITHIN } from './live-store.ts';

export interface Attempt {
  status: string;
  sequence: string;
  tx_id: Hex;
  raw: Hex;
  is_gone: boolean;
}

/** A live store that has swept and paid before, and whose chain takes final blocks back. */
export class ReorganisedStore {
  readonly store: LiveStore;
  #recipients = 1_000;

  private constructor(store: LiveStore) {
    this.store = store;
  }

  static async start(): Promise<ReorganisedStore> {
    const own = new ReorganisedStore(await LiveStore.start());
    const { store } = own;
    await store.world.client.setBalance({ address: store.hot, value: parseEther('1') });
    for (const currency of ['USDT', 'USDC'] as const) {
      await store.paid(400, currency);
      // It needs a sweep and an allowance, so that nothing but payments is sent from here on.
      const items = [own.recipient(), own.recipient()].map((address) => ({ address, amount: '1.00' }));
      const id = await store.submitted(items, currency);
      await store.until(() => store.batch(id), { status: 'completed' });
    }
    await store.expectSettled();
    return own;
  }

  recipient(): Hex {
    return freshAddress(this.#recipients++);
  }

  async attempts(keyRef: 'hot' | 'tank' = 'hot'): Promise<Attempt[]> {
    const { service, merchant } = this.store;
    return await asOwner<Attempt>(
      service,
      `select status, sequence::text, tx_id, raw, gone_at is not null as is_gone from transfer_attempt
       where merchant_id = $1 and key_ref = $2 and movement is null order by attempt_id`,
      [merchant.merchantId, keyRef],
    );
  }

  async newest(keyRef?: 'hot' | 'tank'): Promise<Attempt> {
    const found = (await this.attempts(keyRef)).at(-1);
    if (found === undefined) throw new Error('nothing has been sent');
    return found;
  }

  async stops(): Promise<string[]> {
    return (await networkCommands(this.store.service.app).list()).map(({ status }) => status);
  }

  async usdt() {
    const { data } = await this.store.merchant.sdk.balances.retrieve();
    return data.find(({ currency }) => currency === 'USDT');
  }

  /** The operator's accounts that are not 0. */
  async operators() {
    return await operatorsOf(this.store.service, this.store.merchant.merchantId);
  }

  /** @returns what replaces every block that is mined from now on by an empty one */
  async remember(): Promise<() => Promise<void>> {
    const { world } = this.store;
    const height = () => world.client.getBlockNumber({ cacheTime: 0 });
    const before = await height();
    return async () => world.reorganise(Number((await height()) - before));
  }

  async audit(): Promise<void> {
    await auditOnce(this.store.service, this.store.merchant.merchantId, 'erc20');
  }

  /** Audits and mines until nothing is on its way any more; somebody then lets sending go on. */
  async auditAndResume(): Promise<void> {
    const { world } = this.store;
    await this.audit();
    expectStopped(await this.stops());
    const isAway = async () => {
      await this.audit();
      await world.mine(world.finalBlocks + 1);
      const sent = [...(await this.attempts()), ...(await this.attempts('tank'))];
      return sent.some(({ is_gone: isGone }) => isGone);
    };
    await pollUntilFalse(isAway);
    await this.store.resume();
    await this.audit();
    expectOpen(await this.stops());
  }

  /** Until `work` is done nothing that the service sends reaches the node. */
  async silenced(work: () => Promise<void>): Promise<void> {
    const { node } = this.store;
    node.refuse = ({ method }: Call) => (method === 'eth_sendRawTransaction' ? 'cut' : undefined);
    await work();
    node.behave();
  }

  /** Another transaction with the sequence of one that has left its block, in a block of its own. */
  async takeSequence({ sequence }: Attempt, wallet: Account): Promise<void> {
    await this.store.takeSequence(sequence, wallet);
    await this.store.world.mine(1);
  }
}

async function pollUntilFalse(what: () => Promise<boolean>): Promise<void> {
  await expect.poll(what, WITHIN).toBe(false);
}

function expectStopped(stops: readonly string[]): void {
  expect(stops).toContain('stopped');
}

function expectOpen(stops: readonly string[]): void {
  expect(stops).not.toContain('stopped');
}
