export { ECHO_IMAGE } from './build/build.js';
export { type ImageDescription, type ImageFile, writeImage } from './image-archive.js';
export { importImage } from './lab/import-image.js';
export {
  type ClusterRecord,
  clusterFolder,
  isAlive,
  readRecords,
  removeCluster,
  removeLeftovers,
} from './lab/leftovers.js';
export {
  echoArchive,
  missingForBuiltCluster,
  missingForTestCluster,
  openBuiltCluster,
  openTestCluster,
  prepareTestCluster,
} from './open-test-cluster.js';
export type {
  ClusterCapabilities,
  ClusterComponent,
  ComponentUsage,
  HostCertificate,
  TestCluster,
  TestClusterOptions,
} from './test-cluster.js';
export { ClusterUnavailable } from './unavailable.js';
