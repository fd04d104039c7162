import { EVENT_CATALOGUE } from '@florin/contract/event-catalogue';
import { keysOf } from '@florin/contract/tables';
import type { EventType } from '@florin/sdk';
import { wrongUsage } from './failure.ts';

export const eventTypes = (): EventType[] => keysOf(EVENT_CATALOGUE);

/** @throws CommandFailure for an unknown type, listing all types */
export function readEventType(text: string): EventType {
  const type = eventTypes().find((one) => one === text);
  if (type === undefined) {
    throw wrongUsage(`There is no event type ${text}. There are: ${eventTypes().join(', ')}.`);
  }
  return type;
}
