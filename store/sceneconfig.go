package store

import "sensegate/motion/home"

// sceneConfigs is the table of scene configurations, one for each home.
var sceneConfigs = table[home.SceneConfigID, home.SceneConfig]{
	name: "scene_configs", noun: "scene config", key: key32[home.SceneConfigID],
}

// createSceneConfig stores the configuration that a new home begins with under the
// next id and returns it.
func (tx *Tx) createSceneConfig(h home.ID) (home.SceneConfig, error) {
	sequence, err := tx.bucket(sceneConfigs.name).NextSequence()
	if err != nil {
		return home.SceneConfig{}, err
	}
	c := home.DefaultSceneConfig()
	c.ID, c.HomeID = home.SceneConfigID(sequence), h
	c.CreatedAt, c.UpdatedAt = tx.now.Stamp(), tx.now.Stamp()
	return c, sceneConfigs.put(tx, c.ID, c)
}

// SceneConfig returns the scene configuration with the id.
func (tx *Tx) SceneConfig(id home.SceneConfigID) (home.SceneConfig, error) {
	return sceneConfigs.must(tx, id)
}

// PutSceneConfig stores c over the scene configuration with its id, as given.
func (tx *Tx) PutSceneConfig(c home.SceneConfig) error {
	if _, err := sceneConfigs.must(tx, c.ID); err != nil {
		return err
	}
	return sceneConfigs.put(tx, c.ID, c)
}
