export { AddressRanges } from './address-ranges.js';
export { assertOutside } from './assert-outside.js';
export { connectTo } from './connect.js';
export { OrgHosts } from './org-hosts.js';
export { type AddressRules, reachableOf } from './reachable.js';
export { createResolver, type Resolve } from './resolver.js';
export { problemOfUrl } from './url.js';
