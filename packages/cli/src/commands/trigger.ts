import { EVENT_CATALOGUE } from '@florin/contract/event-catalogue';
import type { Command } from 'commander';
import { eventTypes, readEventType } from '../event-types.ts';
import { CommandFailure, wrongUsage } from '../failure.ts';
import { florinOf, type MerchantFlags, merchantCommand } from '../merchant.ts';
import { print, show, toJson, wantsJson } from '../show.ts';
import { RECIPES } from '../triggers.ts';

interface TriggerFlags extends MerchantFlags {
  list?: true;
}

const triggerable = () => eventTypes().filter((type) => RECIPES[type] !== undefined);

function list(self: Command): void {
  const rows = eventTypes().map((type) => ({
    type,
    trigger: RECIPES[type] === undefined ? 'not yet' : 'yes',
    change: EVENT_CATALOGUE[type].change,
  }));
  show(self, rows);
}

async function trigger(text: string, flags: TriggerFlags, self: Command): Promise<void> {
  const type = readEventType(text);
  const recipe = RECIPES[type];
  if (recipe === undefined) {
    const why = EVENT_CATALOGUE[type].built ? 'This command cannot cause' : 'Nothing in this version causes';
    const message = `${why} ${type}. What can be triggered: ${triggerable().join(', ')}.`;
    throw new CommandFailure('not_built', message);
  }
  const florin = florinOf(flags);
  const { resource, said } = await recipe(florin);
  // Events are recorded in the transaction of the change, so they exist at once.
  const events = (await florin.events.list({ type, resource }).page()).data.map(({ id }) => id).reverse();
  if (wantsJson(self)) print(toJson({ type, resource, events }));
  else print(`${said}\n${type}: ${events.join(', ')}`);
}

export function addTrigger(program: Command): void {
  const lines = ['florin trigger payout_batch.updated', 'florin trigger --list'];
  merchantCommand(program, 'trigger [type]', lines)
    .description('Make a real change in the sandbox that causes an event of this type')
    .option('--list', 'show the types, and what causes each')
    .action(async (type: string | undefined, flags: TriggerFlags, self: Command) => {
      if (flags.list) return list(self);
      if (type === undefined) throw wrongUsage('Name an event type, or use --list to see all.');
      await trigger(type, flags, self);
    });
}
