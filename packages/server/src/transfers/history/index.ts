export { adoptHistory, type HistoryAdoption } from './adopt-history.ts';
export { adoptSequence } from './adopt-sequence.ts';
export { hasHistoryChanged, recordHistory } from './history.ts';
