export {
  type CreatedRange,
  createdRange,
  cursorOf,
  madeWithin,
  newestFirst,
  pageOf,
  readNewest,
  unknownCursor,
} from './list-page.ts';
