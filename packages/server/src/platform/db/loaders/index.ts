export {
  BatchLoader,
  loaderPer,
  READ_OVERLAP_AFTER_MS,
  readLoaderPerPool,
  rowLoaderPerPool,
} from './batch-loader.ts';
