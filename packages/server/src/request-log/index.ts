export { readRefusal, readStatusRange } from './filters.ts';
export { findRequest, listRequests, type RequestFilter } from './find-requests.ts';
export {
  type LoggedRequest,
  type LoggedRequestDetails,
  LoggedRequestDetailsSchema,
  LoggedRequestSchema,
} from './present.ts';
export { RequestLog } from './request-log.ts';
export { REQUEST_LOG_SETTINGS } from './settings.ts';
export { REQUEST_LOG_TABLE } from './tables.ts';
