export { parseNetworks } from './addresses.ts';
export { checkCallbackUrl } from './callback-url.ts';
export type { OutboundAnswer } from './exchange.ts';
export { createOutbound, type Outbound, type OutboundOptions } from './outbound.ts';
export { createJsonPoster, type JsonPoster } from './post-json.ts';
export {
  createUrlReader,
  isReadableUrl,
  type UrlReader,
  type UrlReaderOptions,
  UrlUnread,
} from './read-url.ts';
