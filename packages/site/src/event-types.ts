import { EVENT_CATALOGUE } from '@florin/contract/event-catalogue';
import { OPT_IN_EVENT_TYPES, type RecordedEventType } from '@florin/contract/schemas';
import { keysOf } from '@florin/contract/tables';
import type { Document } from './documents.ts';
import { bodyOf } from './event-bodies.ts';
import { urlOf } from './navigation.ts';

const TYPES = keysOf(EVENT_CATALOGUE);
const OPT_IN: readonly string[] = OPT_IN_EVENT_TYPES;

function pageOf(type: RecordedEventType): Document {
  const { resource, change } = EVENT_CATALOGUE[type];
  const delivered = OPT_IN.includes(type)
    ? `It is opt-in: delivered to endpoints that name it in \`types\`, and recorded in any case.`
    : `It carries a \`${resource}\` in \`data.object\`.`;
  const body = JSON.stringify(bodyOf(type), null, 2);
  const text = [
    `# \`${type}\``,
    change,
    delivered,
    '## Body',
    `\`\`\`json\n${body}\n\`\`\``,
    `\`previous_attributes\` holds the old values of the fields that changed. Verify the signature before you act on it: [receive webhooks](${urlOf('webhooks-receiving')}).`,
    `[All events](${urlOf('events')}), and how to cause them in the sandbox`,
  ];
  return { name: `events/${type}`, source: `events/${type}`, text: `${text.join('\n\n')}\n` };
}

/** Addresses of the pages of event types, by type. */
export const eventAddresses = (): ReadonlyMap<string, string> =>
  new Map(TYPES.map((type) => [type, urlOf(`events/${type}`)]));

/** A page for each event type, with a whole body. */
export const eventPages = (): Document[] => TYPES.map(pageOf);
