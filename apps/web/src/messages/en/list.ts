export const list = {
  noMatchTheFilters: 'No {noun} match the filters',
  clearFilters: 'Clear filters',
  thisListMayBeOutdated: 'This list may be outdated.',
  loadMore: 'Load more {noun}',
  loading: 'Loading {noun}',
  loading2: 'Loading: {label}',
  mayBeOutdated: '{label} may be outdated.',
} as const;
