export { type Change, recordEvent } from './record-event.ts';
export { eventRoutes } from './routes.ts';
