export { builtSite } from './built-site.ts';
export { NAVIGATION, urlOf } from './navigation.ts';
