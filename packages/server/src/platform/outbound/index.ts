export { checkCallbackUrl } from './callback-url.ts';
export { createOutbound } from './outbound.ts';
export { createJsonPoster, type JsonPoster } from './post-json.ts';
export {
  createUrlReader,
  isReadableUrl,
  type UrlReader,
  type UrlReaderOptions,
  UrlUnread,
} from './read-url.ts';
