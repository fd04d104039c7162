export { builtSite } from './built-site.ts';
export type { ExampleStep, ReferenceExamples } from './client/prepare-example.ts';
export { NAVIGATION, urlOf } from './navigation.ts';
