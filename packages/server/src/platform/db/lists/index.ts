export {
  byCreation,
  type CreatedRange,
  createdRange,
  cursorOf,
  inOrder,
  madeWithin,
  type Page,
  pageOf,
  readByCreation,
  unknownCursor,
} from './list-page.ts';
