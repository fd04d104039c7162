export { LiveEvents } from './live-events.ts';
export { lockStream, numberEvents, type PublishedEvent } from './publish-events.ts';
export { listEvents } from './queries.ts';
export { type Change, PUBLISH_JOB, recordEvent, recordEvents } from './record-event.ts';
export { resourceOf } from './resource-keys.ts';
export { eventRoutes } from './routes.ts';
export { EVENT_SETTINGS } from './settings.ts';
