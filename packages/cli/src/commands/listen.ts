import type { EventType } from '@florin/sdk';
import type { Command } from 'commander';
import { dataFolder, findCredentials } from '../credentials.ts';
import { eventTypes, readEventType } from '../event-types.ts';
import { wrongUsage } from '../failure.ts';
import { leavingSignal } from '../leaving.ts';
import { readTarget } from '../listen/forward.ts';
import { listen } from '../listen/listen.ts';
import { type MerchantFlags, merchantCommand } from '../merchant.ts';
import { wantsJson } from '../show.ts';

const DESCRIPTION = `Show events as they happen, and forward them to a server on this machine.

${[
  'It continues after the last event that the previous run forwarded, and reconnects by itself after a',
  'break of the connection. A receiver that is down or refuses is reported and skipped, but with --retry.',
].join(' ')}

Types: ${eventTypes().join(', ')}`;

interface ListenFlags extends MerchantFlags {
  forwardTo?: string;
  types?: string;
  after?: string;
  fromStart?: true;
  fromNow?: true;
  retry?: true;
  skipVerify?: true;
}

/** Where to start; undefined: where the previous run ended. */
function beginOf({ after, fromStart, fromNow }: ListenFlags): string | undefined {
  const given = [after, fromStart && 'start', fromNow && 'now'].filter((begin) => begin !== undefined);
  if (given.length > 1) throw wrongUsage('Give one of --after, --from-start and --from-now.');
  return given[0];
}

const typesOf = (text: string | undefined): EventType[] | undefined =>
  text?.split(',').map((name) => readEventType(name.trim()));

export function addListen(program: Command): void {
  const lines = [
    'florin listen',
    'florin listen --forward-to http://localhost:3000/webhooks',
    'florin listen --forward-to 3000/webhooks --types payout_batch.updated --retry',
  ];
  merchantCommand(program, 'listen', lines)
    .summary('Show events as they happen, and forward them to a server on this machine')
    .description(DESCRIPTION)
    .option(
      '--forward-to <url>',
      'where each event is POSTed, signed as the service signs: http://localhost:3000/webhooks',
    )
    .option('--types <list>', 'these types alone, with commas between')
    .option('--after <event>', 'begin behind this event')
    .option('--from-start', 'begin with the oldest event that is kept')
    .option('--from-now', 'leave out what happened since the run before')
    .option('--retry', 'send an event again until it is acknowledged; others wait behind it')
    .option('--skip-verify', "do not verify the receiver's certificate")
    .action(async (flags: ListenFlags, self: Command) => {
      const options = {
        credentials: findCredentials(process.env, flags.dataDir),
        folder: dataFolder(process.env, flags.dataDir),
        target: flags.forwardTo === undefined ? undefined : readTarget(flags.forwardTo),
        types: typesOf(flags.types),
        from: beginOf(flags),
        skipVerify: flags.skipVerify === true,
        retry: flags.retry === true,
        json: wantsJson(self),
        signal: leavingSignal(),
      };
      await listen(options);
    });
}
