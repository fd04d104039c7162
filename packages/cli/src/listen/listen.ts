import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventType, Florin, InvalidRequestError, type RecordedEvent } from '@florin/sdk';
import type { Credentials } from '../credentials.ts';
import { print } from '../show.ts';
import { note } from '../terminal.ts';
import { type ForwardOptions, forward, type Outcome } from './forward.ts';
import { ListenerPlace } from './place.ts';
import { eventLine, outcomeText } from './report.ts';

const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;
const START = 'start';

export interface ListenOptions {
  credentials: Credentials;
  /** The file that keeps the position. */
  folder: string;
  target: URL | undefined;
  types: readonly EventType[] | undefined;
  /** Where to start instead of after the last event of an earlier run; `now` skips older events. */
  from: string | undefined;
  skipVerify: boolean;
  /** An event is sent again until it is acknowledged, and others wait behind it. */
  retry: boolean;
  json: boolean;
  signal: AbortSignal;
}

/** Shows and forwards events until the signal is aborted. @throws FlorinError where the service refuses */
export async function listen(options: ListenOptions): Promise<void> {
  const florin = new Florin(options.credentials);
  const place = await findPlace(florin, options);
  const kept = options.from === undefined ? place.current : undefined;
  greet(options);
  try {
    await follow(florin, place, options, kept ?? (options.from === 'now' ? undefined : options.from));
  } catch (error) {
    const isGone = error instanceof InvalidRequestError && error.param === 'after' && kept !== undefined;
    if (!isGone) throw error;
    note('The last event of the previous run is no longer stored: all stored events follow.');
    await follow(florin, place, options, START);
  }
}

/** Listeners of a store differ by their target. */
const nameOf = (owner: string, target: URL | undefined) => `${owner} ${target?.href ?? '-'}`;

async function findPlace(florin: Florin, options: ListenOptions): Promise<ListenerPlace> {
  const { credentials, folder, target } = options;
  const [newest] = (await florin.events.list({ limit: 1 }).page()).data;
  const key = `key_${createHash('sha256').update(credentials.apiKey).digest('hex').slice(0, 16)}`;
  const owners = newest === undefined ? [key] : [newest.store_id, key];
  return new ListenerPlace(
    folder,
    owners.map((owner) => nameOf(owner, target)),
  );
}

function greet({ credentials, target, json }: ListenOptions): void {
  if (json) return;
  const { baseUrl, secretKey } = credentials;
  note(`Events of ${baseUrl}${target === undefined ? '' : `, forwarded to ${target.href}`}`);
  if (target !== undefined) {
    note(
      `Signed with your Secret Key, which ends in ${secretKey.slice(-4)}: check with webhooks.verify(rawBody, headers, secretKey).`,
    );
  }
}

async function follow(
  florin: Florin,
  place: ListenerPlace,
  options: ListenOptions,
  after: string | undefined,
): Promise<void> {
  const { target, types, json, signal } = options;
  let isInterrupted = false;
  let isReady = false;
  const stream = florin.events.streamRecorded({
    signal,
    ...(after === undefined ? {} : { after }),
    onOpen: (opened) => {
      if (isInterrupted) note('Connected again.');
      // Before this, an event that happens at a first start is older than its position.
      if (!isReady && !json) note(`Ready: events after ${opened} follow. Stop with Ctrl-C.`);
      isInterrupted = false;
      isReady = true;
      place.keep(opened);
    },
    onInterrupt: (error, pauseMs) => {
      if (!isInterrupted) note(`${error?.message ?? 'The service ended the stream'}: trying again.`);
      else if (pauseMs > RETRY_MAX_MS / 2) note('Still trying.');
      isInterrupted = true;
    },
  });
  for await (const event of stream) {
    place.rename(nameOf(JSON.parse(event.body).store_id, target));
    if (types === undefined || types.includes(event.type)) {
      const outcome = target && (await send(event, { ...options, target }));
      // Interrupted by the end of the command; the next run sends it again.
      if (signal.aborted && outcome?.acknowledged === false) return;
      print(eventLine(event, outcome, json));
    }
    place.keep(event.id);
  }
}

/** One attempt, or with `retry` attempts until one is acknowledged. */
async function send(event: RecordedEvent, options: ListenOptions & { target: URL }): Promise<Outcome> {
  const { credentials, target, skipVerify, retry, signal } = options;
  const how: ForwardOptions = { target, secretKey: credentials.secretKey, skipVerify, signal };
  for (let pauseMs = RETRY_MS; ; pauseMs = Math.min(RETRY_MAX_MS, pauseMs * 2)) {
    const outcome = await forward(event, how);
    if (outcome.acknowledged || !retry || signal.aborted) return outcome;
    note(`${event.id} ${outcomeText(outcome)}; again in ${pauseMs / 1000} s`);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
